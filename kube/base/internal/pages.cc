#include "kube/base/internal/pages.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "kube/base/internal/sanitizer.h"

namespace kube::detail {

#if defined(KUBE_ADDRESS_SANITIZER)

// With mmap, the leak sanitizer would report everything that a large table points to.
void* mapMemory(std::size_t bytes, Touched) {
  void* memory = std::calloc(1, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* remapMemory(void* memory, std::size_t bytes, std::size_t newBytes) {
  auto* moved = static_cast<char*>(std::realloc(memory, newBytes));
  if (moved == nullptr) throw std::bad_alloc();
  if (newBytes > bytes) std::memset(moved + bytes, 0, newBytes - bytes);
  return moved;
}

void unmapMemory(void* memory, std::size_t) noexcept { std::free(memory); }

#else

void* mapMemory(std::size_t bytes, Touched touched) {
  const int populate = touched == Touched::All ? MAP_POPULATE : 0;
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void* remapMemory(void* memory, std::size_t bytes, std::size_t newBytes) {
  void* moved = mremap(memory, bytes, newBytes, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) throw std::bad_alloc();
  return moved;
}

void unmapMemory(void* memory, std::size_t bytes) noexcept { munmap(memory, bytes); }

#endif

}  // namespace kube::detail
