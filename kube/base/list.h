// A list in 8 bytes, shared by reference count, with copy-on-write.
//
// Reads like a std::vector. Elements lie side by side in one block. Elements larger than
// kBoxedAbove are held by handle, so that equal ones are shared and growing moves few bytes. const
// access never copies; the non-const forms (begin, operator[], push_back, ...) first make a shared
// list this handle's own. A const operator[] past the end returns the empty default, as Shared
// does; `at` throws.
//
// Thread safety: distinct handles may be used on any threads, even if they share memory. Writing
// invalidates iterators and references of the written handle only. Write through references from
// the non-const forms at once: after the handle was copied, a write through an older reference
// would change the copy too.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "kube/base/internal/block.h"
#include "kube/base/shared.h"

namespace kube {

/// Elements of more bytes than this are boxed.
inline constexpr std::size_t kBoxedAbove = 224;

namespace detail {

/// Walks the boxed elements of a list as if they were inline. `Element` is T or const T.
template <class T, class Element>
class BoxIterator {
  using Box = std::conditional_t<std::is_const_v<Element>, const Shared<T>, Shared<T>>;

 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = Element*;
  using reference = Element&;

  BoxIterator() = default;
  explicit BoxIterator(Box* at) : at_(at) {}
  reference operator*() const { return **at_; }
  pointer operator->() const { return &**at_; }
  reference operator[](difference_type n) const { return *at_[n]; }
  BoxIterator& operator++() { return ++at_, *this; }
  BoxIterator operator++(int) { return BoxIterator(at_++); }
  BoxIterator& operator--() { return --at_, *this; }
  BoxIterator operator--(int) { return BoxIterator(at_--); }
  BoxIterator& operator+=(difference_type n) { return at_ += n, *this; }
  BoxIterator& operator-=(difference_type n) { return at_ -= n, *this; }
  friend BoxIterator operator+(BoxIterator i, difference_type n) { return BoxIterator(i.at_ + n); }
  friend BoxIterator operator+(difference_type n, BoxIterator i) { return i + n; }
  friend BoxIterator operator-(BoxIterator i, difference_type n) { return BoxIterator(i.at_ - n); }
  friend difference_type operator-(BoxIterator a, BoxIterator b) { return a.at_ - b.at_; }
  friend auto operator<=>(const BoxIterator&, const BoxIterator&) = default;

 private:
  Box* at_ = nullptr;
};

}  // namespace detail

template <class T>
class List {
 public:
  using value_type = T;

  constexpr List() noexcept = default;
  List(std::initializer_list<T> items) { assign(items.begin(), items.end()); }
  template <std::input_iterator I>
  List(I first, I last) {
    assign(first, last);
  }
  List(const List& other) noexcept : block_(other.block_) { detail::addRef(block_); }
  List(List&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  List& operator=(List other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~List() {
    if (block_ != nullptr) drop(block_);
  }

  std::size_t size() const noexcept {
    return block_ != nullptr ? block_->size & detail::kCountMask : 0;
  }
  bool empty() const noexcept { return size() == 0; }

  auto begin() const noexcept { return iterate<const T>(slots()); }
  auto end() const noexcept { return iterate<const T>(slots() + size()); }
  auto begin() { return iterate<T>(own()); }
  auto end() { return iterate<T>(own() + size()); }

  const T& operator[](std::size_t i) const noexcept {
    return i < size() ? begin()[static_cast<std::ptrdiff_t>(i)] : absent();
  }
  T& operator[](std::size_t i) { return checked(i), begin()[static_cast<std::ptrdiff_t>(i)]; }
  const T& at(std::size_t i) const { return checked(i), begin()[static_cast<std::ptrdiff_t>(i)]; }
  const T& front() const noexcept { return (*this)[0]; }
  const T& back() const noexcept { return empty() ? absent() : (*this)[size() - 1]; }
  T& front() { return (*this)[0]; }
  T& back() { return (*this)[size() - 1]; }

  void push_back(T value) {
    const std::size_t n = size();
    if (n + 1 > capacity() || !isOwn()) grow(n + 1);
    new (slots() + n) Slot<T>(std::move(value));
    ++block_->size;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    push_back(T{std::forward<Args>(args)...});
    return back();
  }
  void pop_back() {
    checked(0);
    resize(size() - 1);
  }
  void clear() noexcept { *this = List(); }
  void resize(std::size_t n) {
    if (n == size()) return;
    if (n > capacity() || !isOwn()) grow(n > size() ? n : size());
    while (size() < n) {
      new (slots() + size()) Slot<T>(T());  // a box as well: no slot is ever null
      ++block_->size;
    }
    // The capacity of an exact block is its count, so the block must not shrink in place.
    if (n < size() && (block_->size & ~detail::kCountMask) == 0) grow(size());
    while (size() > n) {
      std::destroy_at(slots() + size() - 1);
      --block_->size;
    }
  }
  void reserve(std::size_t n) {
    if (n > capacity() || (n > 0 && !isOwn())) grow(n > size() ? n : size());
  }
  void insert(std::size_t i, T value) {
    if (i > size()) throw std::out_of_range("kube::List: insertion past the end");
    push_back(std::move(value));
    std::rotate(slots() + i, slots() + size() - 1, slots() + size());
  }
  void erase(std::size_t i) {
    checked(i);
    auto* items = own();
    std::move(items + i + 1, items + size(), items + i);
    resize(size() - 1);
  }
  template <std::input_iterator I>
  void assign(I first, I last) {
    List fresh;
    for (; first != last; ++first) fresh.push_back(*first);
    *this = std::move(fresh);
  }

  /// True if both are the same memory.
  bool sharesWith(const List& other) const noexcept { return block_ == other.block_; }

  friend bool operator==(const List& a, const List& b) {
    // Compares slots, so that shared boxes are equal without a look at the elements.
    return a.block_ == b.block_ ||
           std::equal(a.slots(), a.slots() + a.size(), b.slots(), b.slots() + b.size());
  }

  /// Removes the elements for which `gone` holds; returns their number.
  template <class Predicate>
  friend std::size_t erase_if(List& list, Predicate gone) {
    std::size_t before = list.size();
    List kept;
    for (const T& item : std::as_const(list)) {
      if (!gone(item)) kept.push_back(item);
    }
    if (kept.size() != before) list = std::move(kept);
    return before - list.size();
  }

  /// Destroys the elements if this was the last reference.
  static void drop(detail::Block* block) noexcept;

  static constexpr bool boxed() { return sizeof(T) > kBoxedAbove; }
  static constexpr std::size_t slotSize() { return sizeof(Slot<T>); }

 private:
  // The size of T is needed only where T is complete, so that a type can hold a list of itself.
  template <class U>
  struct SlotOf {
    using type = std::conditional_t<(sizeof(U) > kBoxedAbove), Shared<U>, U>;
  };
  template <class U>
  using Slot = typename SlotOf<U>::type;

  template <class U>
  static std::size_t bytesFor(std::size_t n) {
    return sizeof(detail::Block) + n * sizeof(Slot<U>);
  }
  static std::size_t capacityOf(const detail::Block* block) noexcept {
    const std::uint32_t room = block->size >> detail::kRoomShift;
    return room != 0 ? std::size_t{1} << room : block->size;
  }
  static auto slotsOf(detail::Block* block) noexcept {
    return static_cast<Slot<T>*>(block->payload());
  }
  auto slots() const noexcept {
    return block_ != nullptr ? slotsOf(block_) : static_cast<Slot<T>*>(nullptr);
  }
  template <class Element, class U = T>
  static auto iterate(Slot<U>* at) noexcept {
    if constexpr (sizeof(U) > kBoxedAbove) {
      return detail::BoxIterator<T, Element>(at);
    } else {
      return static_cast<Element*>(at);
    }
  }
  bool isOwn() const noexcept { return block_ == nullptr || detail::isSole(block_); }
  // The greatest capacity is one more than the greatest count.
  std::size_t capacity() const noexcept {
    return block_ != nullptr ? std::min<std::size_t>(capacityOf(block_), detail::kCountMask) : 0;
  }
  void checked(std::size_t i) const {
    if (i >= size()) throw std::out_of_range("kube::List: index past the end");
  }
  auto own() {
    if (!isOwn()) {
      List copy;
      copy.allocate(size(), 0);
      for (const auto* slot = slots(); slot != slots() + size(); ++slot) {
        new (copy.slots() + copy.size()) Slot<T>(*slot);
        ++copy.block_->size;
      }
      *this = std::move(copy);
    }
    return slots();
  }
  /// Allocates an exact block for n elements. Its count is raised as elements are made; so nothing
  /// throws halfway.
  void allocate(std::size_t n, int roomLog) {
    if (n > detail::kCountMask) throw std::length_error("kube::List: too long");
    if (n == 0) return;
    block_ = detail::allocateBlock(bytesFor<T>(roomLog != 0 ? std::size_t{1} << roomLog : n),
                                   static_cast<std::uint32_t>(roomLog) << detail::kRoomShift);
  }
  // Moves (or, if shared, copies) the elements to a block with room for at least n.
  void grow(std::size_t n) {
    const bool move = isOwn();
    List bigger;
    bigger.allocate(n, static_cast<int>(std::bit_width(n < 4 ? std::size_t{3} : n - 1)));
    auto* from = slots();
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) {
      if (move) {
        new (bigger.slots() + i) Slot<T>(std::move(from[i]));
      } else {
        new (bigger.slots() + i) Slot<T>(from[i]);
      }
      ++bigger.block_->size;
    }
    *this = std::move(bigger);
  }
  static const T& absent() noexcept {
    static const T value{};
    return value;
  }

  detail::Block* block_ = nullptr;
};

// Not inline, for the reason given in Shared.
template <class T>
void List<T>::drop(detail::Block* block) noexcept {
  if (!detail::dropRef(block)) return;
  auto* items = slotsOf(block);
  std::destroy(items, items + (block->size & detail::kCountMask));
  detail::freeBlock(block, bytesFor<T>(capacityOf(block)));
}

}  // namespace kube
