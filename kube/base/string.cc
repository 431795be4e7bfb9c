#include "kube/base/string.h"

#include <cstring>
#include <ostream>
#include <stdexcept>

namespace kube {

String::String(std::string_view text) {
  if (text.empty()) return;
  if (text.size() >= UINT32_MAX) throw std::length_error("kube::String: over 4 GiB");
  block_ = detail::allocateBlock(sizeof(detail::Block) + text.size(),
                                 static_cast<std::uint32_t>(text.size()));
  std::memcpy(block_->payload(), text.data(), text.size());
}

void String::drop(detail::Block* block) noexcept {
  if (detail::dropRef(block)) detail::freeBlock(block, sizeof(detail::Block) + block->size);
}

std::ostream& operator<<(std::ostream& out, const String& text) { return out << text.view(); }

}  // namespace kube
