// Large memory straight from the system, so that it goes back there when freed. (malloc keeps what
// it has seen freed before, which for the tables and lists of a big cache is megabytes.)
#pragma once

#include <cstddef>

namespace kube::detail {

/// From this size on it is worth a system call.
inline constexpr std::size_t kLargeBytes = 128 << 10;

/// Zeroed. Throws std::bad_alloc.
void* mapMemory(std::size_t bytes);
void unmapMemory(void* memory, std::size_t bytes) noexcept;

/// For standard containers that may grow large.
template <class T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    return static_cast<T*>(bytes >= kLargeBytes ? mapMemory(bytes) : ::operator new(bytes));
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    const std::size_t bytes = n * sizeof(T);
    if (bytes >= kLargeBytes) {
      unmapMemory(memory, bytes);
    } else {
      ::operator delete(memory);
    }
  }
  bool operator==(const LargeAllocator&) const = default;
};

}  // namespace kube::detail
