// Large memory directly from the system, so that freed memory returns to the system. (malloc keeps
// freed memory, which for the tables and lists of a big cache is megabytes.)
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace kube::detail {

/// From this size on, a system call is worth it.
inline constexpr std::size_t kLargeBytes = 128 << 10;

/// All: every page will be written anyway, so all are made resident at once.
enum class Touched : bool { Some, All };

/// Returns zeroed memory. Throws std::bad_alloc.
void* mapMemory(std::size_t bytes, Touched touched = Touched::Some);
void unmapMemory(void* memory, std::size_t bytes) noexcept;

/// Changes the size of such memory, which may move; the added part is zeroed.
void* remapMemory(void* memory, std::size_t bytes, std::size_t newBytes);

/// A table of zeroed entries that may be large. `T` must be trivial, and its empty state all zero
/// bytes.
template <class T>
class ZeroedTable {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ZeroedTable() = default;
  explicit ZeroedTable(std::size_t size) : size_(size) {
    const std::size_t bytes = size * sizeof(T);
    entries_ = static_cast<T*>(bytes >= kLargeBytes ? mapMemory(bytes, Touched::All)
                                                    : std::calloc(size, sizeof(T)));
    if (entries_ == nullptr) throw std::bad_alloc();
  }
  ZeroedTable(ZeroedTable&& other) noexcept
      : entries_(std::exchange(other.entries_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedTable& operator=(ZeroedTable&& other) noexcept {
    std::swap(entries_, other.entries_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ZeroedTable() {
    if (size_ * sizeof(T) >= kLargeBytes) {
      unmapMemory(entries_, size_ * sizeof(T));
    } else {
      std::free(entries_);
    }
  }

  std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return entries_[i]; }
  const T& operator[](std::size_t i) const noexcept { return entries_[i]; }
  T* begin() noexcept { return entries_; }
  T* end() noexcept { return entries_ + size_; }

 private:
  T* entries_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kube::detail
