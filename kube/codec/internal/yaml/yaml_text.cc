#include "kube/codec/internal/yaml/yaml_text.h"

#include <algorithm>
#include <charconv>

namespace kube::detail {

namespace {

bool isBlank(char c) noexcept { return c == ' ' || c == '\t'; }
bool isBreak(char c) noexcept { return c == '\n' || c == '\r'; }

void appendUtf8(char32_t code, std::string& out) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

// A position in a text that was scanned without errors before.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  bool atEnd() const noexcept { return at_ >= text_.size(); }
  char peek() const noexcept { return atEnd() ? '\0' : text_[at_]; }
  char take() noexcept { return atEnd() ? '\0' : text_[at_++]; }
  bool take(char c) noexcept {
    if (peek() != c || atEnd()) return false;
    ++at_;
    return true;
  }
  /// Takes a line break of any kind, and returns it as \n; returns nothing if there is none.
  std::string takeBreak() {
    if (!isBreak(peek())) return {};
    if (take() == '\r') take('\n');
    return "\n";
  }
  char32_t takeHex(std::size_t digits) {
    const std::string_view hex = text_.substr(std::min(at_, text_.size()), digits);
    std::uint32_t code = 0;
    std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
    at_ += hex.size();
    return code;
  }
  std::string_view takeLine() {
    const std::size_t end = std::min(text_.find_first_of("\r\n", at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end;
    return line;
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

void decodeEscape(Cursor& at, std::string& out) {
  constexpr std::string_view kNames = "0abt\tnvfre \"'\\/";
  constexpr std::string_view kMeans("\0\a\b\t\t\n\v\f\r\x1B \"'\\/", 15);
  const char c = at.take();
  switch (c) {
    case 'N':
      return appendUtf8(0x85, out);
    case '_':
      return appendUtf8(0xA0, out);
    case 'L':
      return appendUtf8(0x2028, out);
    case 'P':
      return appendUtf8(0x2029, out);
    case 'x':
      return appendUtf8(at.takeHex(2), out);
    case 'u':
      return appendUtf8(at.takeHex(4), out);
    case 'U':
      return appendUtf8(at.takeHex(8), out);
    default:
      break;
  }
  const std::size_t name = kNames.find(c);
  out += name == std::string_view::npos ? c : kMeans[name];
}

// Folds blanks and line breaks inside quotes: a single break becomes a space; of several, all but
// the first stay. `joined` is true behind an escaped line break.
void foldQuoted(Cursor& at, bool joined, std::string& out) {
  std::string blanks;
  std::string firstBreak;
  std::string moreBreaks;
  bool inBreaks = joined;
  while (isBlank(at.peek()) || isBreak(at.peek())) {
    if (isBlank(at.peek())) {
      const char c = at.take();
      if (!inBreaks) blanks += c;
    } else if (!inBreaks) {
      firstBreak = at.takeBreak();
      inBreaks = true;
    } else {
      moreBreaks += at.takeBreak();
    }
  }
  if (!inBreaks) {
    out += blanks;
  } else {
    out += firstBreak.empty() || !moreBreaks.empty() ? moreBreaks : " ";
  }
}

// Takes empty lines and the indentation of the next line. Returns the width of that indentation.
int takeEmptyLines(Cursor& at, int& indent, int parent, std::string& breaks) {
  int column = 0;
  int widest = 0;
  for (;;) {
    column = 0;
    while ((indent == 0 || column < indent) && at.take(' ')) ++column;
    widest = std::max(widest, column);
    if (!isBreak(at.peek())) break;
    breaks += at.takeBreak();
  }
  if (indent == 0) indent = std::max({widest, parent + 1, 1});
  return column;
}

}  // namespace

std::size_t yamlContentStart(std::string_view text, std::size_t at) noexcept {
  constexpr std::string_view kSpace = " \t\r\n";
  while (at < text.size() && (text[at] == '&' || text[at] == '!' || text[at] == '#')) {
    // A tag contains no quote: yaml-cpp lets a quote follow it without a blank.
    const std::string_view end = text[at] == '#' ? "\r\n" : text[at] == '!' ? " \t\r\n\"" : kSpace;
    at = text.find_first_of(end, at);
    at = text.find_first_not_of(kSpace, at);
  }
  return std::min(at, text.size());
}

std::optional<std::string> decodeYamlQuoted(std::string_view text, std::size_t start) {
  Cursor at(text, start);
  const char quote = at.take();
  std::string result;
  while (!at.atEnd()) {
    if (at.take(quote)) {
      if (quote == '"' || !at.take('\'')) return result;
      result += '\'';
    } else if (quote == '"' && at.take('\\')) {
      if (isBreak(at.peek())) {
        at.takeBreak();
        foldQuoted(at, true, result);
      } else {
        decodeEscape(at, result);
      }
    } else if (isBlank(at.peek()) || isBreak(at.peek())) {
      foldQuoted(at, false, result);
    } else {
      result += at.take();
    }
  }
  return std::nullopt;
}

std::string decodeYamlFolded(std::string_view text, std::size_t start, int parent) {
  Cursor at(text, start);
  at.take('>');
  char chomping = '\0';
  int indent = 0;
  for (const char c : at.takeLine().substr(0, 2)) {
    if (c == '+' || c == '-') chomping = c;
    if (c < '0' || c > '9') continue;
    indent = std::max(parent, 0) + (c - '0');
  }
  at.takeBreak();

  std::string result;
  std::string lastBreak;
  std::string breaks;
  bool wasIndented = false;  // the last line, more than the rest: its break is not folded
  int column = takeEmptyLines(at, indent, parent, breaks);
  while (column == indent && !at.atEnd()) {
    const bool indented = isBlank(at.peek());
    if (wasIndented || indented || lastBreak.empty()) {
      result += lastBreak;
    } else if (breaks.empty()) {
      result += ' ';
    }
    result += breaks;
    breaks.clear();
    wasIndented = indented;
    result += at.takeLine();
    lastBreak = at.takeBreak();
    column = takeEmptyLines(at, indent, parent, breaks);
  }
  if (chomping != '-') result += lastBreak;
  if (chomping == '+') result += breaks;
  return result;
}

}  // namespace kube::detail
