#include "kube/base/string.h"

#include <cstring>
#include <ostream>
#include <stdexcept>

namespace kube {

namespace {

detail::Block* allocateText(std::string_view text) {
  if (text.size() >= UINT32_MAX) throw std::length_error("kube::String: over 4 GiB");
  return detail::allocateBlock(sizeof(detail::Block) + text.size(),
                               static_cast<std::uint32_t>(text.size()));
}

// Copies a word at a time; the last word may overlap the previous one. Returns all words combined
// by OR. `n` is at least the size of a word.
template <class Word>
Word copyWords(char* to, const char* from, std::size_t n) noexcept {
  Word all = 0;
  Word word;
  std::size_t at = 0;
  for (; at + sizeof(word) < n; at += sizeof(word)) {
    std::memcpy(&word, from + at, sizeof(word));
    std::memcpy(to + at, &word, sizeof(word));
    all |= word;
  }
  at = n - sizeof(word);
  std::memcpy(&word, from + at, sizeof(word));
  std::memcpy(to + at, &word, sizeof(word));
  return all | word;
}

}  // namespace

namespace detail {

Block* copyText(std::string_view text, bool& ascii) {
  ascii = true;
  if (text.empty()) return nullptr;
  Block* block = allocateText(text);
  auto* to = static_cast<char*>(block->payload());
  const std::size_t n = text.size();
  std::uint64_t all = 0;
  if (n >= 8) {
    all = copyWords<std::uint64_t>(to, text.data(), n);
  } else if (n >= 4) {
    all = copyWords<std::uint32_t>(to, text.data(), n);
  } else {
    all = copyWords<std::uint8_t>(to, text.data(), n);
  }
  ascii = (all & 0x8080'8080'8080'8080) == 0;
  return block;
}

}  // namespace detail

String::String(std::string_view text) {
  if (text.empty()) return;
  block_ = allocateText(text);
  std::memcpy(block_->payload(), text.data(), text.size());
}

void String::drop(detail::Block* block) noexcept {
  if (detail::dropRef(block)) detail::freeBlock(block, sizeof(detail::Block) + block->size);
}

std::ostream& operator<<(std::ostream& out, const String& text) { return out << text.view(); }

}  // namespace kube
