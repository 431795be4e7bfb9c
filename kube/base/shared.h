// A nested message in 8 bytes: absent, or shared by reference count, with copy-on-write.
//
//   if (pod.spec->securityContext->runAsUser == 0)  reads; an absent message reads as the empty
//                                                   default, whether `pod` is const or not
//   pod.spec->nodeName = "n1"                       writes: creates an absent message, detaches a
//                                                   shared one
//   if (pod.spec->securityContext)                  asks for presence
//   policy.spec->podSelector.emplace()              present, even if nothing is set in it
//
// Reading never crashes and never changes what is sent. A message that `->` or `*` of a non-const
// handle made is *provisional*: it counts as absent, for presence, comparison and every encoder,
// until something in it differs from a new one. So a plain `paused = false` written into an absent
// message leaves it absent; assigning a message, `emplace()` and `write()` make it present whatever
// is in it.
//
// Writing never changes what another holder sees. A reference got for writing is for writing at
// once: after the handle was copied, the copy would see it too.
//
// A temporary's message ends with the temporary, so `->` and `*` of one do not compile: give the
// object a name first.
//
// Thread safety: distinct handles may be used on any threads, also when they share memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "kube/base/internal/block.h"

namespace kube {

namespace detail {

/// Whether a message equals a new one. Described types say so by their table (type_info.h).
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

/// What `size` is in the block of a message.
inline constexpr std::uint32_t kProvisional = 0;  // made for writing, and absent until it was
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
  /// Makes it present: a new message, or one of these arguments.
  template <class... Args>
  T& emplace(Args&&... args) {
    *this = Shared(T{std::forward<Args>(args)...});
    return *valueOf(block_);
  }

  const T& read() const noexcept { return block_ != nullptr ? *valueOf(block_) : absent(); }
  const T& operator*() const& noexcept { return read(); }
  const T* operator->() const& noexcept { return &read(); }

  /// For writing: present from now on.
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

  /// True when both are the same memory.
  bool sharesWith(const Shared& other) const noexcept { return block_ == other.block_; }

  /// Absent and empty differ, as a nil pointer and an empty struct do.
  friend bool operator==(const Shared& a, const Shared& b) {
    if (a.block_ == b.block_) return true;
    const bool present = isPresent(a.block_);
    if (present != isPresent(b.block_)) return false;
    return !present || *valueOf(a.block_) == *valueOf(b.block_);
  }

  /// Destroys the message when the last reference is gone.
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

// Not inline, so that `extern template` keeps it out of other files: who destroys a Pod would
// compile the destruction of everything that can be in one.
template <class T>
void Shared<T>::drop(detail::Block* block) noexcept {
  if (!detail::dropRef(block)) return;
  valueOf(block)->~T();
  detail::freeBlock(block, sizeof(detail::Block) + sizeof(T));
}

// Not inline, since it is seldom called.
template <class T>
bool Shared<T>::isAsNew(const detail::Block* block) noexcept {
  return detail::AsNew<T>::test(*valueOf(const_cast<detail::Block*>(block)));
}

}  // namespace kube
