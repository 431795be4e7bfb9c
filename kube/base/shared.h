// A nested message in 8 bytes: absent, or shared by reference count, with copy-on-write.
//
//   if (pod.spec->securityContext->runAsUser == 0)  reads; an absent message reads as the empty
//                                                   default, whether `pod` is const or not
//   pod.spec->nodeName = "n1"                       writes: creates an absent message, detaches a
//                                                   shared one
//   if (pod.spec->securityContext)                  tests for presence
//   policy.spec->podSelector.emplace()              makes it present, even if nothing in it is set
//
// Reading never crashes and never changes what is sent. `->` and `*` of a non-const handle make an
// absent message *provisional*: it counts as absent, for presence, comparison and every encoder,
// until something in it differs from a new message. So `paused = false` written into an absent
// message leaves it absent. Assigning a message, `emplace()` and `write()` make it present,
// whatever its content.
//
// Writing never changes the object of another holder. Write through a reference at once: after the
// handle was copied, the write would change the copy too.
//
// The message of a temporary ends with the temporary. So `->` and `*` of a temporary do not
// compile: give the object a name first.
//
// Thread safety: distinct handles may be used on any threads, even if they share memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "kube/base/internal/block.h"

namespace kube {

namespace detail {

/// Tests whether a message equals a new one. Described types specialize it with their table
/// (type_info.h).
template <class T>
struct AsNew {
  static bool test(const T& value) {
    if constexpr (std::equality_comparable<T>) {
      return value == T();
    } else {
      return false;
    }
  }
};

/// The values of `size` in the block of a message.
inline constexpr std::uint32_t kProvisional = 0;  // made for writing; absent until then
inline constexpr std::uint32_t kPresent = 1;

template <class>
inline constexpr bool kOfTemporary = false;

}  // namespace detail

template <class T>
class Shared {
 public:
  constexpr Shared() noexcept = default;
  Shared(std::nullptr_t) noexcept {}  // NOLINT: implicit, so that `= nullptr` means absent
  Shared(T value)                     // NOLINT: implicit by design
      : block_(make(detail::kPresent, std::move(value))) {}
  Shared(const Shared& other) noexcept : block_(other.block_) { detail::addRef(block_); }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() {
    if (block_ != nullptr) drop(block_);
  }

  explicit operator bool() const noexcept { return isPresent(block_); }
  bool has_value() const noexcept { return isPresent(block_); }
  void reset() noexcept { *this = Shared(); }
  /// Makes it present: a new message, or one made from the arguments.
  template <class... Args>
  T& emplace(Args&&... args) {
    *this = Shared(T{std::forward<Args>(args)...});
    return *valueOf(block_);
  }

  const T& read() const noexcept { return block_ != nullptr ? *valueOf(block_) : absent(); }
  const T& operator*() const& noexcept { return read(); }
  const T* operator->() const& noexcept { return &read(); }

  /// For writing; makes it present.
  T& write() {
    T& own = this->own();
    block_->size = detail::kPresent;
    return own;
  }
  T& operator*() & { return own(); }
  T* operator->() & { return &own(); }

  template <class U = T>
  const U& operator*() const&& {
    static_assert(detail::kOfTemporary<U>,
                  "this message is part of a temporary and ends with it: give the object a name "
                  "first, or within one expression use read()");
    return read();
  }
  template <class U = T>
  const U* operator->() const&& {
    static_assert(detail::kOfTemporary<U>,
                  "this message is part of a temporary and ends with it: give the object a name "
                  "first, or within one expression use read()");
    return &read();
  }

  /// True if both are the same memory.
  bool sharesWith(const Shared& other) const noexcept { return block_ == other.block_; }

  /// Absent and empty messages differ, as a nil pointer and an empty struct do.
  friend bool operator==(const Shared& a, const Shared& b) {
    if (a.block_ == b.block_) return true;
    const bool present = isPresent(a.block_);
    if (present != isPresent(b.block_)) return false;
    return !present || *valueOf(a.block_) == *valueOf(b.block_);
  }

  /// Destroys the message if this was the last reference.
  static void drop(detail::Block* block) noexcept;

 private:
  static T* valueOf(detail::Block* block) noexcept {
    static_assert(alignof(T) <= alignof(std::uint64_t));
    return std::launder(static_cast<T*>(block->payload()));
  }
  static bool isPresent(const detail::Block* block) noexcept {
    return block != nullptr && (block->size != detail::kProvisional || !isAsNew(block));
  }
  static bool isAsNew(const detail::Block* block) noexcept;
  T& own() {
    if (block_ == nullptr) {
      block_ = make(detail::kProvisional, T());
    } else if (!detail::isSole(block_)) {
      detail::Block* copy = make(block_->size, *valueOf(block_));
      drop(std::exchange(block_, copy));
    }
    return *valueOf(block_);
  }
  template <class U>
  static detail::Block* make(std::uint32_t presence, U&& value) {
    detail::Block* block = detail::allocateBlock(sizeof(detail::Block) + sizeof(T), presence);
    try {
      new (block->payload()) T(std::forward<U>(value));
    } catch (...) {
      detail::freeBlock(block, sizeof(detail::Block) + sizeof(T));
      throw;
    }
    return block;
  }
  static const T& absent() noexcept {
    static const T value{};
    return value;
  }

  detail::Block* block_ = nullptr;
};

// Not inline, so that `extern template` keeps it out of other files: code that destroys a Pod would
// compile the destruction of everything that a Pod can hold.
template <class T>
void Shared<T>::drop(detail::Block* block) noexcept {
  if (!detail::dropRef(block)) return;
  valueOf(block)->~T();
  detail::freeBlock(block, sizeof(detail::Block) + sizeof(T));
}

// Not inline, because it is rarely called.
template <class T>
bool Shared<T>::isAsNew(const detail::Block* block) noexcept {
  return detail::AsNew<T>::test(*valueOf(const_cast<detail::Block*>(block)));
}

}  // namespace kube
