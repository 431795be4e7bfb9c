#include "kube/base/pages.h"

#include <sys/mman.h>

#include <new>

namespace kube::detail {

void* mapMemory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void unmapMemory(void* memory, std::size_t bytes) noexcept { munmap(memory, bytes); }

}  // namespace kube::detail
