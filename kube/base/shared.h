// A nested message in 8 bytes: absent, or shared by reference count, with copy-on-write.
//
//   pod.spec->nodeName              const: reads; an absent message reads as the empty default
//   if (pod.spec->securityContext)  asks for presence
//   pod.spec->nodeName = "n1"       non-const: creates an absent message, detaches a shared one
//
// So reading never crashes, and writing never changes what another holder sees. Read through a
// const reference (or `read()`) where a copy or a creation is not meant. A reference got for
// writing is for writing at once: after the handle was copied, the copy would see it too.
//
// Thread safety: distinct handles may be used on any threads, also when they share memory.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "kube/base/block.h"

namespace kube {

template <class T>
class Shared {
 public:
  constexpr Shared() noexcept = default;
  Shared(std::nullptr_t) noexcept {}  // NOLINT: implicit, so that `= nullptr` means absent
  Shared(T value) : block_(make(std::move(value))) {}  // NOLINT: implicit by design
  Shared(const Shared& other) noexcept : block_(other.block_) { detail::addRef(block_); }
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() {
    if (block_ != nullptr) drop(block_);
  }

  explicit operator bool() const noexcept { return block_ != nullptr; }
  bool has_value() const noexcept { return block_ != nullptr; }
  void reset() noexcept { *this = Shared(); }

  const T& read() const noexcept { return block_ != nullptr ? *valueOf(block_) : absent(); }
  const T& operator*() const noexcept { return read(); }
  const T* operator->() const noexcept { return &read(); }

  T& write() {
    if (block_ == nullptr) {
      block_ = make(T());
    } else if (!detail::isSole(block_)) {
      detail::Block* own = make(*valueOf(block_));
      drop(std::exchange(block_, own));
    }
    return *valueOf(block_);
  }
  T& operator*() { return write(); }
  T* operator->() { return &write(); }

  /// True when both are the same memory.
  bool sharesWith(const Shared& other) const noexcept { return block_ == other.block_; }

  /// Absent and empty differ, as a nil pointer and an empty struct do.
  friend bool operator==(const Shared& a, const Shared& b) {
    if (a.block_ == b.block_) return true;
    if (a.block_ == nullptr || b.block_ == nullptr) return false;
    return *valueOf(a.block_) == *valueOf(b.block_);
  }

  /// Destroys the message when the last reference is gone.
  static void drop(detail::Block* block) noexcept;

 private:
  static T* valueOf(detail::Block* block) noexcept {
    static_assert(alignof(T) <= alignof(std::uint64_t));
    return std::launder(static_cast<T*>(block->payload()));
  }
  template <class U>
  static detail::Block* make(U&& value) {
    detail::Block* block = detail::allocateBlock(sizeof(detail::Block) + sizeof(T), 1);
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

// Not inline, so that `extern template` keeps it out of other files: who destroys a Pod would
// compile the destruction of everything that can be in one.
template <class T>
void Shared<T>::drop(detail::Block* block) noexcept {
  if (!detail::dropRef(block)) return;
  valueOf(block)->~T();
  detail::freeBlock(block, sizeof(detail::Block) + sizeof(T));
}

}  // namespace kube
