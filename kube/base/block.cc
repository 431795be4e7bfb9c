#include "kube/base/block.h"

#include <cstdlib>
#include <new>

namespace kube::detail {

Block* allocateBlock(std::size_t bytes, std::uint32_t size) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  auto* block = static_cast<Block*>(memory);
  new (&block->refs) std::atomic<std::uint32_t>(1);
  block->size = size;
  return block;
}

void freeBlock(Block* block, std::size_t) noexcept { std::free(block); }

}  // namespace kube::detail
