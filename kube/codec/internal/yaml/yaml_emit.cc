// Writes values as YAML, in the layout of go-yaml v2's emitter, which kubectl uses, for the few
// styles that occur (block collections, scalars in all styles but folded).
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/utf8.h"
#include "kube/codec/internal/float_text.h"
#include "kube/codec/internal/yaml/yaml_scalar.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"

namespace kube {

namespace {

using detail::YamlScalar;

constexpr int kIndent = 2;
constexpr int kBestWidth = 80;
constexpr std::size_t kMaxSimpleKey = 128;

enum class Style { Plain, SingleQuoted, DoubleQuoted, Literal };

// The styles that can hold a text.
struct Analysis {
  bool multiline = false;
  bool plain = true;
  bool singleQuoted = true;
  bool literal = true;
};

bool isBlank(std::string_view text, std::size_t at) {
  return at >= text.size() || text[at] == ' ' || text[at] == '\t' || text[at] == '\n' ||
         text[at] == '\r';
}

bool isPrintable(char32_t c) {
  // YAML 1.1 takes line and paragraph separators for line breaks, YAML 1.2 does not. Only escaped
  // are they the same to both. Go's emitter takes no character beyond the basic plane for
  // printable.
  return c == '\n' || (c >= 0x20 && c <= 0x7E) ||
         (c >= 0xA0 && c <= 0xFFFD && c != 0xFEFF && c != 0x2028 && c != 0x2029);
}

bool startsWithIndicator(std::string_view text) {
  if (text.starts_with("---") || text.starts_with("...")) return true;
  if (std::string_view("#,[]{}&*!|>'\"%@`").find(text[0]) != std::string_view::npos) return true;
  const bool alone = text.size() == 1 || text[1] == ' ' || text[1] == '\t';
  return alone && (text[0] == '?' || text[0] == ':' || text[0] == '-');
}

Analysis analyze(std::string_view text) {
  Analysis result;
  if (text.empty()) {
    result.literal = false;
    return result;
  }
  bool indicators = startsWithIndicator(text);
  bool special = false;
  bool breakThenSpace = false;
  bool spaceThenBreak = false;
  for (std::size_t i = 0; i < text.size();) {
    char32_t code = 0;
    const std::size_t length = detail::decodeUtf8(text, i, code);
    const char before = i == 0 ? '\0' : text[i - 1];
    if (!isPrintable(code)) special = true;
    if (code == '\n' || code == '\r') {
      result.multiline = true;
      if (before == ' ') spaceThenBreak = true;
    } else if (code == ' ') {
      if (before == '\n' || before == '\r') breakThenSpace = true;
    } else if (code == ':' && i > 0) {
      const bool alone = i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\t';
      if (alone) indicators = true;
    } else if (code == '#' && i > 0 && isBlank(text, i - 1)) {
      indicators = true;
    }
    i += length;
  }
  const bool trailingSpace = text.back() == ' ';
  result.plain = !indicators && !special && !result.multiline && text.front() != ' ' &&
                 !trailingSpace && !breakThenSpace && !spaceThenBreak;
  result.singleQuoted = !special && !breakThenSpace && !spaceThenBreak;
  result.literal = !special && !trailingSpace && !spaceThenBreak;
  return result;
}

// The order of keys in go-yaml: runs of digits by their number, letters after other characters.
// Letters beyond ASCII are approximated by ranges.
bool isLetter(char32_t c) {
  if (c < 0x80) return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  const bool symbol = c == 0xD7 || c == 0xF7 || (c >= 0x300 && c < 0x370) ||
                      (c >= 0x2000 && c < 0x2C00) || (c >= 0x2E00 && c < 0x3005) ||
                      (c >= 0x3008 && c < 0x3031) || (c >= 0xD800 && c < 0xF900) ||
                      (c >= 0xFE00 && c < 0xFE70) || c == 0xFEFF || (c >= 0xFF00 && c < 0xFF21) ||
                      (c >= 0xFFF0 && c < 0x10000) || (c >= 0x1F000 && c < 0x20000);
  return !symbol;
}

bool isDigit(char32_t c) { return c >= '0' && c <= '9'; }

std::u32string codePoints(std::string_view text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    char32_t code = 0;
    const std::size_t length = detail::decodeUtf8(text, i, code);
    result += length == 0 ? U'\uFFFD' : code;
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

struct DigitRun {
  std::uint64_t number;
  std::size_t end;
};
DigitRun digitRun(const std::u32string& text, std::size_t at, std::uint64_t number) {
  for (; at < text.size() && isDigit(text[at]); ++at) number = number * 10 + (text[at] - '0');
  return {number, at};
}

bool keyLess(const std::u32string& a, const std::u32string& b) {
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (left == a.end() || right == b.end()) return a.size() < b.size();
  if (isLetter(*left) && isLetter(*right)) return *left < *right;
  if (isLetter(*left) || isLetter(*right)) return isLetter(*right);
  const auto at = static_cast<std::size_t>(left - a.begin());
  // Zeros count only behind another digit than zero.
  std::uint64_t start = 0;
  if (*left == '0' || *right == '0') {
    for (std::size_t j = at; j > 0 && isDigit(a[j - 1]); --j) {
      if (a[j - 1] != '0') {
        start = 1;
        break;
      }
    }
  }
  const DigitRun x = digitRun(a, at, start);
  const DigitRun y = digitRun(b, at, start);
  if (x.number != y.number) {
    return static_cast<std::int64_t>(x.number) < static_cast<std::int64_t>(y.number);
  }
  if (x.end != y.end) return x.end < y.end;
  return *left < *right;
}

class YamlEmitter {
 public:
  void document(const Value& value) {
    node(value, false, false);
    newLine();
  }
  std::string take() { return std::move(out_); }

 private:
  void node(const Value& value, bool inMapping, bool isKey) {
    switch (value.type()) {
      case Value::Type::Array:
        sequence(value.asArray(), inMapping);
        break;
      case Value::Type::Object:
        mapping(value.asObject());
        break;
      case Value::Type::String:
        string(value.asString(), isKey);
        break;
      default:
        scalar(plainText(value), Style::Plain, isKey);
    }
  }

  static std::string plainText(const Value& value) {
    if (!value.isDouble()) return toJson(value);
    if (!std::isfinite(value.asDouble())) {
      throw Error("yaml: infinity and NaN have no JSON form");
    }
    const std::string json = detail::formatJsonFloat(value.asDouble());
    // As upstream does: numbers are read back from JSON, where whole ones are integers.
    const YamlScalar read = detail::resolveYamlScalar(json);
    return read.type == YamlScalar::Type::Int ? json : detail::formatYamlFloat(read.real);
  }

  void sequence(const Value::Array& items, bool inMapping) {
    if (items.empty()) {
      indicator("[", true, true, false);
      indicator("]", false, false, false);
      return;
    }
    const int outer = indent_;
    // Items directly behind a key are not indented.
    indent_ = outer < 0 ? 0 : inMapping && !indention_ ? outer : outer + kIndent;
    for (const Value& item : items) {
      newLine();
      indicator("-", true, false, true);
      node(item, false, false);
    }
    indent_ = outer;
  }

  void mapping(const Value::Object& members) {
    if (members.empty()) {
      indicator("{", true, true, false);
      indicator("}", false, false, false);
      return;
    }
    struct Member {
      std::u32string order;
      const String* key;
      const Value* value;
    };
    std::vector<Member> sorted;
    sorted.reserve(members.size());
    for (const auto& [key, value] : members) sorted.push_back({codePoints(key), &key, &value});
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Member& a, const Member& b) { return keyLess(a.order, b.order); });
    const int outer = indent_;
    indent_ = outer < 0 ? 0 : outer + kIndent;
    for (const Member& member : sorted) {
      newLine();
      if (!analyze(*member.key).multiline && member.key->size() <= kMaxSimpleKey) {
        string(*member.key, true);
        indicator(":", false, false, false);
      } else {
        indicator("?", true, false, true);
        string(*member.key, false);
        newLine();
        indicator(":", true, false, true);
      }
      node(*member.value, true, false);
    }
    indent_ = outer;
  }

  void string(std::string_view text, bool isKey) {
    const std::string valid = detail::replaceInvalidUtf8(text);
    const bool isMerge = isKey && valid == "<<";  // unquoted, it would be a merge key
    const bool plain = detail::resolveYamlScalar(valid).type == YamlScalar::Type::String &&
                       !detail::isBase60Float(valid) && !isMerge;
    const bool multiline = valid.find('\n') != std::string::npos;
    scalar(valid, multiline ? Style::Literal : plain ? Style::Plain : Style::DoubleQuoted, isKey);
  }

  void scalar(std::string_view text, Style style, bool isKey) {
    const Analysis can = analyze(text);
    if (isKey && can.multiline) style = Style::DoubleQuoted;
    if (style == Style::Plain && !can.plain) style = Style::SingleQuoted;
    if (style == Style::SingleQuoted && !can.singleQuoted) style = Style::DoubleQuoted;
    if (style == Style::Literal && (!can.literal || isKey)) style = Style::DoubleQuoted;
    const int outer = indent_;
    indent_ = outer < 0 ? kIndent : outer + kIndent;
    switch (style) {
      case Style::Plain:
        plain(text, !isKey);
        break;
      case Style::SingleQuoted:
        singleQuoted(text, !isKey);
        break;
      case Style::DoubleQuoted:
        doubleQuoted(text, !isKey);
        break;
      case Style::Literal:
        literal(text);
        break;
    }
    indent_ = outer;
  }

  void plain(std::string_view text, bool mayFold) {
    if (!whitespace_) put(' ');
    folded(text, mayFold, [this](char c) { put(c); });
    whitespace_ = false;
    indention_ = false;
  }

  void singleQuoted(std::string_view text, bool mayFold) {
    indicator("'", true, false, false);
    folded(text, mayFold, [this](char c) {
      if (c == '\'') put('\'');
      put(c);
    });
    indicator("'", false, false, false);
  }

  // A line beyond the best width is broken at the next single space.
  template <class Put>
  void folded(std::string_view text, bool mayFold, Put putOne) {
    bool spaces = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != ' ') {
        putOne(text[i]);
        indention_ = false;
        spaces = false;
        continue;
      }
      if (mayFold && !spaces && column_ > kBestWidth && i > 0 && i + 1 < text.size() &&
          text[i + 1] != ' ') {
        newLine();
      } else {
        put(' ');
      }
      spaces = true;
    }
  }

  void doubleQuoted(std::string_view text, bool mayFold) {
    indicator("\"", true, false, false);
    // Upstream escapes every character of a text that starts with a byte order mark.
    const bool escapeAll = text.starts_with("\xEF\xBB\xBF");
    bool spaces = false;
    for (std::size_t i = 0; i < text.size();) {
      char32_t code = 0;
      const std::size_t length = detail::decodeUtf8(text, i, code);
      if (escapeAll || !isPrintable(code) || code == '\n' || code == '"' || code == '\\') {
        escape(code);
        spaces = false;
      } else if (code == ' ') {
        if (mayFold && !spaces && column_ > kBestWidth && i > 0 && i + 1 < text.size()) {
          newLine();
          if (text[i + 1] == ' ') put('\\');
        } else {
          put(' ');
        }
        spaces = true;
      } else {
        for (std::size_t k = 0; k < length; ++k) put(text[i + k]);
        spaces = false;
      }
      i += length;
    }
    indicator("\"", false, false, false);
  }

  void escape(char32_t code) {
    put('\\');
    switch (code) {
      case 0x00:
        return put('0');
      case 0x07:
        return put('a');
      case 0x08:
        return put('b');
      case 0x09:
        return put('t');
      case 0x0A:
        return put('n');
      case 0x0B:
        return put('v');
      case 0x0C:
        return put('f');
      case 0x0D:
        return put('r');
      case 0x1B:
        return put('e');
      case '"':
        return put('"');
      case '\\':
        return put('\\');
      case 0x85:
        return put('N');
      case 0xA0:
        return put('_');
      case 0x2028:
        return put('L');
      case 0x2029:
        return put('P');
      default:
        break;
    }
    put(code <= 0xFF ? 'x' : code <= 0xFFFF ? 'u' : 'U');
    for (int shift = code <= 0xFF ? 4 : code <= 0xFFFF ? 12 : 28; shift >= 0; shift -= 4) {
      put("0123456789ABCDEF"[code >> shift & 15]);
    }
  }

  void literal(std::string_view text) {
    indicator("|", true, false, false);
    if (text.front() == ' ' || text.front() == '\n') indicator("2", false, false, false);
    if (text.back() != '\n') {
      indicator("-", false, false, false);
    } else if (text.size() == 1 || text[text.size() - 2] == '\n') {
      indicator("+", false, false, false);
    }
    lineBreak();
    indention_ = true;
    whitespace_ = true;
    for (const char c : text) {
      if (c == '\n') {
        lineBreak();
        indention_ = true;
        continue;
      }
      if (indention_) newLine();
      put(c);
      indention_ = false;
    }
  }

  // Moves to the start of a line's content: in a new line, unless this one has only indentation.
  void newLine() {
    const int indent = std::max(indent_, 0);
    if (!indention_ || column_ > indent || (column_ == indent && !whitespace_)) lineBreak();
    while (column_ < indent) put(' ');
    whitespace_ = true;
    indention_ = true;
  }

  void indicator(std::string_view text, bool needsSpace, bool isSpace, bool isIndention) {
    if (needsSpace && !whitespace_) put(' ');
    for (const char c : text) put(c);
    whitespace_ = isSpace;
    indention_ = indention_ && isIndention;
  }

  void put(char c) {
    out_ += c;
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++column_;  // columns are characters
  }

  void lineBreak() {
    out_ += '\n';
    column_ = 0;
  }

  std::string out_;
  int indent_ = -1;
  int column_ = 0;
  bool whitespace_ = true;  // the last character was white space, or the text is empty
  bool indention_ = true;   // this line has only indentation and indicators so far
};

}  // namespace

std::string toYaml(const Value& value) {
  YamlEmitter emitter;
  emitter.document(value);
  return emitter.take();
}

}  // namespace kube
