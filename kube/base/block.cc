#include "kube/base/block.h"

#include <cstdlib>
#include <new>

#include "kube/base/pages.h"
#include "kube/base/slab.h"

// The address sanitizer finds misuse of blocks only if each is an allocation of its own.
#if defined(__SANITIZE_ADDRESS__)
#define KUBE_PLAIN_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KUBE_PLAIN_MALLOC 1
#endif
#endif

namespace kube::detail {

namespace {

#if defined(KUBE_PLAIN_MALLOC)
constexpr std::size_t kMaxSlab = 0;
#else
constexpr std::size_t kMaxSlab = kMaxSlabBytes;
#endif

}  // namespace

Block* allocateBlock(std::size_t bytes, std::uint32_t size) {
  void* memory = bytes <= kMaxSlab     ? slabAllocate(bytes)
                 : bytes < kLargeBytes ? std::malloc(bytes)
                                       : mapMemory(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  auto* block = static_cast<Block*>(memory);
  new (&block->refs) std::atomic<std::uint32_t>(1);
  block->size = size;
  return block;
}

void freeBlock(Block* block, std::size_t bytes) noexcept {
  if (bytes <= kMaxSlab) {
    slabFree(block, bytes);
  } else if (bytes < kLargeBytes) {
    std::free(block);
  } else {
    unmapMemory(block, bytes);
  }
}

}  // namespace kube::detail
