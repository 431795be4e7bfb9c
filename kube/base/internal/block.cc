#include "kube/base/internal/block.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "kube/base/internal/pages.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/base/internal/slab.h"

namespace kube::detail {

namespace {

// Some compilers support sized delete only with an option.
void deleteSized(void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__cpp_sized_deallocation)
  ::operator delete(memory, bytes);
#else
  ::operator delete(memory);
#endif
}

#if defined(KUBE_ADDRESS_SANITIZER)

// Misuse of blocks is detected only if each block is an allocation of its own. The sizes given to
// new and delete are compared, too.
bool isMapped(std::size_t) { return false; }
void* allocate(std::size_t bytes) { return ::operator new(bytes); }
void deallocate(void* memory, std::size_t bytes) noexcept { deleteSized(memory, bytes); }

#else

bool isMapped(std::size_t bytes) { return bytes >= kLargeBytes; }
void* allocate(std::size_t bytes) {
  if (bytes <= kMaxSlabBytes) return slabAllocate(bytes);
  return isMapped(bytes) ? mapMemory(bytes) : ::operator new(bytes);
}
void deallocate(void* memory, std::size_t bytes) noexcept {
  if (bytes <= kMaxSlabBytes) {
    slabFree(memory, bytes);
  } else if (isMapped(bytes)) {
    unmapMemory(memory, bytes);
  } else {
    deleteSized(memory, bytes);
  }
}

#endif

}  // namespace

Block* allocateBlock(std::size_t bytes, std::uint32_t size) {
  auto* block = static_cast<Block*>(allocate(bytes));
  new (&block->refs) std::atomic<std::uint32_t>(1);
  block->size = size;
  return block;
}

void freeBlock(Block* block, std::size_t bytes) noexcept { deallocate(block, bytes); }

void* allocateMemory(std::size_t bytes) { return allocate(bytes); }

void freeMemory(void* memory, std::size_t bytes) noexcept { deallocate(memory, bytes); }

Block* resizeBlock(Block* block, std::size_t bytes, std::size_t newBytes) {
  if (isMapped(bytes) && isMapped(newBytes)) {  // no copy, and the existing memory stays
    return static_cast<Block*>(remapMemory(block, bytes, newBytes));
  }
  Block* moved = allocateBlock(newBytes, block->size);
  std::memcpy(moved->payload(), block->payload(), std::min(bytes, newBytes) - sizeof(Block));
  freeBlock(block, bytes);
  return moved;
}

}  // namespace kube::detail
