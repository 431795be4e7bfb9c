#include "kube/codec/internal/json_index.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/codec/internal/limits.h"

namespace kube::detail {

struct JsonIndex::Scanner {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
};

JsonIndex::JsonIndex() : scanner_(std::make_unique<Scanner>()) {}
JsonIndex::~JsonIndex() = default;
JsonIndex::JsonIndex(JsonIndex&&) noexcept = default;

namespace {

// Returns the end of the longest prefix that is valid UTF-8.
std::size_t validUtf8Prefix(std::string_view text) noexcept {
  std::size_t low = 0;
  std::size_t high = text.size();
  // A cut inside a multi-byte character would look invalid too, so every cut is between characters.
  while (high - low > 64) {
    std::size_t middle = low + (high - low) / 2;
    while (middle > low && (static_cast<unsigned char>(text[middle]) & 0xC0) == 0x80) --middle;
    if (middle == low) break;
    if (simdjson::validate_utf8(text.data() + low, middle - low)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  while (low < high) {
    std::size_t next = low + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    if (!simdjson::validate_utf8(text.data() + low, next - low)) break;
    low = next;
  }
  return low;
}

}  // namespace

LineColumn lineColumn(std::string_view text, std::size_t offset) noexcept {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {line + 1, offset - start + 1};
}

void JsonIndex::failAt(std::size_t offset, std::string_view reason, std::string path) const {
  const LineColumn at = lineColumn({text_, text_size_}, offset);
  throw DecodeError({.format = "json",
                     .path = std::move(path),
                     .offset = offset,
                     .line = at.line,
                     .column = at.column},
                    std::string(reason));
}

void JsonIndex::fail(Token token, std::string_view reason, std::string path) const {
  failAt(offset(token), reason, std::move(path));
}

// Finds the tokens. Returns false if the text ends inside a string.
bool JsonIndex::scan(std::string_view text) {
  text_ = text.data();
  text_size_ = text.size();
  count_ = 0;
  if (text.size() > 0xFFFF'FF00) failAt(0, "the text is over 4 GiB");

  auto& parser = scanner_->parser;
  if (parser == nullptr || parser->capacity() < text.size()) {
    // Grows by at least half, so that objects of growing size do not each reallocate.
    const std::size_t old = parser == nullptr ? 0 : parser->capacity();
    const std::size_t capacity =
        std::min<std::size_t>(std::max(text.size(), old + old / 2) + 64, 0xFFFF'FF00);
    parser.reset();
    const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
        capacity, 1, parser);
    if (error != simdjson::SUCCESS) throw std::bad_alloc();
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  switch (parser->stage1(bytes, text.size(), simdjson::stage1_mode::regular)) {
    case simdjson::SUCCESS:
      break;
    case simdjson::EMPTY:
      failAt(text.size(), "unexpected end: there is no value");
    case simdjson::UTF8_ERROR:
      failAt(validUtf8Prefix(text), "not valid UTF-8");
    case simdjson::UNCLOSED_STRING:
      return false;
    case simdjson::UNESCAPED_CHARS: {
      // Rare, so a plain scan finds it: the first control character inside quotes.
      bool quoted = false;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\') {
          ++i;
        } else if (text[i] == '"') {
          quoted = !quoted;
        } else if (quoted && static_cast<unsigned char>(text[i]) < 0x20) {
          failAt(i, "control character in a string: it must be escaped");
        }
      }
      failAt(0, "control character in a string: it must be escaped");
    }
    default:
      failAt(0, "cannot be scanned as JSON");
  }
  begin_ = parser->structural_indexes.get();
  count_ = parser->n_structural_indexes;
  return true;
}

void JsonIndex::link(bool isPiece) {
  if (close_.size() < count_) close_.resize(count_ + count_ / 2);
  std::array<Token, kMaxDepth> open;
  std::uint32_t depth = 0;
  for (Token token = 0; token < count_; ++token) {
    // '[' and '{', ']' and '}' differ in one bit only.
    const char c = text_[begin_[token]];
    const auto folded = static_cast<char>(c | 0x20);
    if (folded == '{') {
      if (depth == kMaxDepth) fail(token, "nested too deeply");
      open[depth++] = token;
    } else if (folded == '}') {
      if (depth == 0) {
        if (!isPiece || c != ']') fail(token, "unexpected closing bracket");
        count_ = token + 1;
        return;
      }
      const Token opening = open[--depth];
      if (text_[begin_[opening]] != c - 2) fail(token, "mismatched closing bracket");
      close_[opening] = token;
    }
  }
  if (depth == 0) return;
  if (!isPiece) failAt(text_size_, "unexpected end: a bracket is not closed");
  while (depth > 0) close_[open[--depth]] = 0;
}

void JsonIndex::build(std::string_view text) {
  if (!scan(text)) failAt(text.size(), "unexpected end inside a string");
  link(false);
}

bool JsonIndex::buildPiece(std::string_view piece) {
  if (!scan(piece)) return false;
  link(true);
  return true;
}

std::string_view JsonIndex::rawString(Token token) const {
  const std::size_t start = begin_[token] + 1;
  // Only white space can stand between the closing quote and the next token.
  std::size_t end = offset(token + 1);
  do {
    --end;
  } while (isSpace(text_[end]) && end > start);
  if (end < start || text_[end] != '"') fail(token + 1, "unexpected text after a string");
  return {text_ + start, end - start};
}

std::string_view JsonIndex::scalar(Token token) const noexcept {
  const std::size_t start = begin_[token];
  std::size_t end = offset(token + 1);
  while (end > start && isSpace(text_[end - 1])) --end;
  return {text_ + start, end - start};
}

std::string_view JsonIndex::rawValue(Token token) const {
  if (opens(token)) {
    return {text_ + begin_[token], begin_[close_[token]] + 1 - begin_[token]};
  }
  return scalar(token);
}

namespace {

// True if the text may have white space, even inside a string. Tests 8 bytes at a time: the high
// bit of a difference is set if the byte is below '!'.
bool mayHaveSpace(std::string_view text) noexcept {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if (((word - kEach * '!') & ~word & (kEach << 7)) != 0) return true;
  }
  return std::any_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < '!'; });
}

}  // namespace

std::string_view JsonIndex::compactValue(Token token, std::string& scratch) const {
  const std::string_view raw = rawValue(token);
  if (!mayHaveSpace(raw)) return raw;
  scratch.clear();
  for (const Token end = after(token); token != end; ++token) {
    scratch.append(text_ + offset(token), this->end(token) - offset(token));
  }
  return scratch;
}

namespace {

int hexDigit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Reads four hex digits at `at`; returns -1 if there are none.
int hex4(std::string_view raw, std::size_t at) noexcept {
  if (at + 4 > raw.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = hexDigit(raw[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

// Resolves escapes. Returns false for a malformed one. An unpaired surrogate becomes U+FFFD, as in
// Go's decoder.
bool unescape(std::string_view raw, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < raw.size();) {
    const std::size_t slash = std::min(raw.find('\\', i), raw.size());
    out.append(raw, i, slash - i);
    i = slash;
    if (i == raw.size()) break;
    if (i + 1 == raw.size()) return false;
    const char c = raw[i + 1];
    i += 2;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u': {
        const int unit = hex4(raw, i);
        if (unit < 0) return false;
        i += 4;
        auto code = static_cast<std::uint32_t>(unit);
        if (code >= 0xD800 && code < 0xE000) {
          const int low = code < 0xDC00 && raw.substr(i, 2) == "\\u" ? hex4(raw, i + 2) : -1;
          if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<std::uint32_t>(low) - 0xDC00);
            i += 6;
          } else {
            code = 0xFFFD;
          }
        }
        appendUtf8(out, code);
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

}  // namespace

void appendUtf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::string_view JsonIndex::string(Token token, std::string& scratch) const {
  const std::string_view raw = rawString(token);
  if (raw.empty() || std::memchr(raw.data(), '\\', raw.size()) == nullptr) return raw;
  if (!unescape(raw, scratch)) fail(token, "malformed escape in a string");
  return scratch;
}

JsonIndex::Token JsonIndex::check(Token token) const {
  switch (at(token)) {
    case '{': {
      const Token end = close(token);
      Token next = token + 1;
      if (next == end) return end + 1;
      for (;;) {
        if (at(next) != '"') fail(next, "expected a field name in quotes");
        check(next);
        if (at(next + 1) != ':') fail(next + 1, "expected ':' after a field name");
        next = check(next + 2);
        if (next == end) return end + 1;
        if (at(next) != ',') fail(next, "expected ',' or '}'");
        ++next;
      }
    }
    case '[': {
      const Token end = close(token);
      Token next = token + 1;
      if (next == end) return end + 1;
      for (;;) {
        next = check(next);
        if (next == end) return end + 1;
        if (at(next) != ',') fail(next, "expected ',' or ']'");
        ++next;
      }
    }
    case '"': {
      std::string scratch;
      string(token, scratch);
      return token + 1;
    }
    default: {
      const std::string_view text = token < count_ ? scalar(token) : std::string_view{};
      bool isInteger = false;
      if (text != "true" && text != "false" && text != "null" && !isJsonNumber(text, isInteger)) {
        fail(token, token < count_ ? "expected a value" : "unexpected end");
      }
      return token + 1;
    }
  }
}

bool isJsonNumber(std::string_view text, bool& isInteger) noexcept {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - start;
  };
  if (i < text.size() && text[i] == '-') ++i;
  const bool zero = i < text.size() && text[i] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  isInteger = true;
  if (i < text.size() && text[i] == '.') {
    ++i;
    isInteger = false;
    if (digits() == 0) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    isInteger = false;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

bool isValidJson(std::string_view text) {
  thread_local JsonIndex index;
  try {
    index.build(text);
    return index.check(0) == index.count();
  } catch (const DecodeError&) {
    return false;
  }
}

}  // namespace kube::detail
