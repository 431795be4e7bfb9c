#include "kube/codec/internal/json_value_scanner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kube::detail {

namespace {

// Bit i describes character i.
struct Masks {
  std::uint64_t quote = 0;
  std::uint64_t backslash = 0;
  std::uint64_t open = 0;
  std::uint64_t close = 0;
};

#if defined(__SSE2__)
Masks masksOf(const char* text) noexcept {
  Masks masks;
  for (int i = 0; i < 4; ++i) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + i * 16));
    const auto bits = [](__m128i matches) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(matches)));
    };
    // '[' and '{', ']' and '}' differ in one bit only.
    const __m128i folded = _mm_or_si128(block, _mm_set1_epi8(0x20));
    masks.quote |= bits(_mm_cmpeq_epi8(block, _mm_set1_epi8('"'))) << (i * 16);
    masks.backslash |= bits(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))) << (i * 16);
    masks.open |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{'))) << (i * 16);
    masks.close |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))) << (i * 16);
  }
  return masks;
}
#else
Masks masksOf(const char* text) noexcept {
  Masks masks;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char folded = static_cast<char>(text[i] | 0x20);
    if (text[i] == '"') masks.quote |= bit;
    if (text[i] == '\\') masks.backslash |= bit;
    if (folded == '{') masks.open |= bit;
    if (folded == '}') masks.close |= bit;
  }
  return masks;
}
#endif

// Bit i of the result is the exclusive or of bits 0 to i: a run of ones from each quote to the
// next.
std::uint64_t prefixXor(std::uint64_t bits) noexcept {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// The characters that a preceding backslash escapes. Backslashes are rare, so they are handled one
// at a time.
std::uint64_t escapedBy(std::uint64_t backslash, std::uint64_t& escapeNext) noexcept {
  std::uint64_t escaped = escapeNext;
  backslash &= ~escapeNext;
  escapeNext = 0;
  while (backslash != 0) {
    const int at = std::countr_zero(backslash);
    if (at == 63) {
      escapeNext = 1;
      break;
    }
    const std::uint64_t next = std::uint64_t{2} << at;
    escaped |= next;
    backslash &= ~(next | (next >> 1));
  }
  return escaped;
}

}  // namespace

void JsonValueScanner::start(char first) noexcept {
  inString_ = 0;
  escapeNext_ = 0;
  depth_ = 0;
  if (first == '"') {
    kind_ = Kind::String;
    inString_ = ~std::uint64_t{0};
  } else if (first == '{' || first == '[') {
    kind_ = Kind::Nested;
    depth_ = 1;
  } else {
    kind_ = Kind::Scalar;
  }
}

std::size_t JsonValueScanner::scan(std::string_view piece, bool& complete) noexcept {
  complete = false;
  if (kind_ == Kind::Scalar) {
    const auto end = piece.find_first_of(",]} \n\t\r");
    complete = end != std::string_view::npos;
    return complete ? end : piece.size();
  }
  // Takes 64 characters at a time. Strings are masked out. In the rest, brackets are counted
  // without a look at each, as long as the block cannot hold the end.
  for (std::size_t at = 0; at < piece.size(); at += 64) {
    const std::size_t left = piece.size() - at;
    Masks masks;
    if (left >= 64) {
      masks = masksOf(piece.data() + at);
    } else {
      char padded[64] = {};
      std::memcpy(padded, piece.data() + at, left);
      masks = masksOf(padded);
    }
    const std::size_t width = std::min<std::size_t>(left, 64);
    const std::uint64_t escaped =
        (masks.backslash | escapeNext_) != 0 ? escapedBy(masks.backslash, escapeNext_) : 0;
    // The escape of a partial block carries to its real end, not to bit 63.
    if (width < 64 && (escaped >> width & 1) != 0) escapeNext_ = 1;
    const std::uint64_t quotes = masks.quote & ~escaped;
    if (kind_ == Kind::String) {
      if (quotes != 0) {
        complete = true;
        return at + static_cast<std::size_t>(std::countr_zero(quotes)) + 1;
      }
      continue;
    }
    // Ones from an opening quote up to, not including, its closing one.
    const std::uint64_t strings = prefixXor(quotes) ^ inString_;
    inString_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(strings) >> 63);
    if (width < 64) inString_ = (strings >> (width - 1) & 1) != 0 ? ~std::uint64_t{0} : 0;
    std::uint64_t open = masks.open & ~strings;
    std::uint64_t close = masks.close & ~strings;
    if (static_cast<std::uint64_t>(std::popcount(close)) < depth_) {
      depth_ += static_cast<std::uint64_t>(std::popcount(open));
      depth_ -= static_cast<std::uint64_t>(std::popcount(close));
      continue;
    }
    while (close != 0) {
      const std::uint64_t bit = close & (~close + 1);
      depth_ += static_cast<std::uint64_t>(std::popcount(open & (bit - 1)));
      open &= ~(bit - 1);
      if (--depth_ == 0) {
        complete = true;
        return at + static_cast<std::size_t>(std::countr_zero(bit)) + 1;
      }
      close &= close - 1;
    }
    depth_ += static_cast<std::uint64_t>(std::popcount(open));
  }
  return piece.size();
}

}  // namespace kube::detail
