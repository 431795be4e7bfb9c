#include "kube/base/pages.h"

#include <sys/mman.h>

#include <new>

namespace kube::detail {

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

}  // namespace kube::detail
