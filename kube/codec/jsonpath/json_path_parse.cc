// Reads JSONPath templates. The grammar is that of client-go's parser rather than that of any
// description of it.
#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/codec/internal/json_index.h"
#include "kube/codec/jsonpath/internal/json_path_template.h"
#include "kube/codec/jsonpath/json_path.h"

namespace kube {
namespace detail {
namespace {

using Kind = JsonPathStep::Kind;

/// The limit for nested ranges; evaluating them recurses.
constexpr std::size_t kMaxRanges = 64;

// True for a character that can begin a name. All characters past ASCII count as letters.
bool isWordCharacter(char c) {
  return c == '_' || isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool endsName(char c) {
  return std::string_view(" \t\r\n.,[]$@{}").find(c) != std::string_view::npos;
}

bool isOperatorCharacter(char c) { return c == '!' || c == '<' || c == '>' || c == '='; }

class JsonPathParser {
 public:
  explicit JsonPathParser(std::string_view text) : text_(text) {}

  JsonPathTemplate parse();

 private:
  /// A part of the text that is read separately: the content of brackets or quotes.
  struct Extent {
    std::size_t begin;
    std::size_t end;
  };
  enum class Keyword : std::uint8_t { None, Range, End };

  [[noreturn]] void fail(std::size_t offset, const std::string& reason) const {
    throw DecodeError({.format = "jsonpath", .offset = offset}, reason);
  }
  std::string_view textOf(Extent extent) const {
    return text_.substr(extent.begin, extent.end - extent.begin);
  }
  bool follows(std::string_view token, std::size_t end) const {
    return text_.substr(at_, end - at_).starts_with(token);
  }

  Keyword action(JsonPathSteps& steps);
  JsonPathSteps path(Extent extent);
  /// Reads one step of an action, which is not the action's end.
  void step(JsonPathSteps& steps, std::size_t end, Keyword* keyword);
  void member(JsonPathSteps& steps, std::size_t end);
  void descend(JsonPathSteps& steps, std::size_t end);
  void brackets(JsonPathSteps& steps, std::size_t end);
  void selector(JsonPathSteps& steps, Extent extent);
  JsonPathSlice slice(Extent extent) const;
  std::optional<std::int64_t> index(Extent extent) const;
  void filter(JsonPathSteps& steps, std::size_t end);
  JsonPathOperator comparison(Extent extent) const;
  void quoted(JsonPathSteps& steps, std::size_t end);
  std::string unquote(Extent extent, char quote) const;
  void number(JsonPathSteps& steps, std::size_t end);
  void word(JsonPathSteps& steps, std::size_t end, Keyword* keyword);
  [[noreturn]] void failUnrecognized() const;

  std::string_view text_;
  std::size_t at_ = 0;
};

JsonPathTemplate JsonPathParser::parse() {
  if (!simdjson::validate_utf8(text_.data(), text_.size())) fail(0, "not valid UTF-8");
  struct OpenRange {
    JsonPathPart part;
    std::size_t offset;
  };
  JsonPathTemplate result;
  std::vector<OpenRange> open;
  const auto add = [&](JsonPathPart part) {
    (open.empty() ? result.parts : open.back().part.body).push_back(std::move(part));
  };
  while (at_ < text_.size()) {
    const std::size_t brace = std::min(text_.find('{', at_), text_.size());
    if (brace > at_) {
      JsonPathStep literal{.kind = Kind::Literal, .offset = at_};
      literal.literal = text_.substr(at_, brace - at_);
      add({.steps = {std::move(literal)}});
    }
    if (brace == text_.size()) break;
    at_ = brace + 1;
    JsonPathPart part;
    switch (action(part.steps)) {
      case Keyword::None:
        add(std::move(part));
        break;
      case Keyword::Range:
        if (open.size() == kMaxRanges) fail(brace, "ranges are nested too deeply");
        part.isRange = true;
        open.push_back({std::move(part), brace});
        break;
      case Keyword::End: {
        if (open.empty()) fail(brace, "not in range, nothing to end");
        if (!part.steps.empty()) fail(brace, "expected {end} and nothing else in the braces");
        JsonPathPart range = std::move(open.back().part);
        open.pop_back();
        add(std::move(range));
        break;
      }
    }
  }
  if (!open.empty()) fail(open.back().offset, "range is not ended: expected {end} after it");
  return result;
}

JsonPathParser::Keyword JsonPathParser::action(JsonPathSteps& steps) {
  Keyword keyword = Keyword::None;
  while (true) {
    if (at_ == text_.size() || text_[at_] == '\n' || text_[at_] == '\r') {
      fail(at_, "unclosed action: expected }");
    }
    if (text_[at_] == '}') break;
    step(steps, text_.size(), &keyword);
  }
  ++at_;
  return keyword;
}

JsonPathSteps JsonPathParser::path(Extent extent) {
  const std::size_t before = std::exchange(at_, extent.begin);
  JsonPathSteps steps;
  while (at_ < extent.end) step(steps, extent.end, nullptr);
  at_ = before;
  return steps;
}

void JsonPathParser::step(JsonPathSteps& steps, std::size_t end, Keyword* keyword) {
  const char c = text_[at_];
  if (c == ' ' || c == '@' || c == '$') {
    ++at_;
  } else if (follows("[?(", end)) {
    filter(steps, end);
  } else if (c == '[') {
    brackets(steps, end);
  } else if (follows("..", end)) {
    descend(steps, end);
  } else if (c == '.') {
    ++at_;
    member(steps, end);
  } else if (c == '"' || c == '\'') {
    quoted(steps, end);
  } else if (c == '+' || c == '-' || isDigit(c)) {
    number(steps, end);
  } else if (isWordCharacter(c)) {
    word(steps, end, keyword);
  } else {
    failUnrecognized();
  }
}

void JsonPathParser::failUnrecognized() const {
  const char c = text_[at_];
  std::string reason =
      fmt::format("unrecognized character in action: U+{:04X}", static_cast<unsigned>(c));
  if (c >= ' ' && c < 0x7F) reason += fmt::format(" '{}'", c);
  if (c == '&' || c == '|') reason += "; filters have no && and ||";
  if (c == '*') reason += "; all members are .*, all elements [*]";
  fail(at_, reason);
}

void JsonPathParser::member(JsonPathSteps& steps, std::size_t end) {
  JsonPathStep step{.kind = Kind::Member, .offset = at_};
  const std::size_t begin = at_;
  while (at_ < end && !endsName(text_[at_])) {
    if (text_[at_] == '\\' && ++at_ == end) break;
    step.name += text_[at_++];
  }
  if (text_.substr(begin, at_ - begin) == "*") step.kind = Kind::All;
  steps.push_back(std::move(step));
}

void JsonPathParser::descend(JsonPathSteps& steps, std::size_t end) {
  if (!steps.empty() && steps.back().kind == Kind::Descend) {
    fail(at_, "invalid multiple recursive descent");
  }
  steps.push_back({.kind = Kind::Descend, .offset = at_});
  at_ += 2;
  if (at_ < end && isWordCharacter(text_[at_])) member(steps, end);
}

void JsonPathParser::brackets(JsonPathSteps& steps, std::size_t end) {
  const std::size_t open = at_;
  const std::size_t close = text_.find_first_of("]\n", open);
  if (close >= end || text_[close] == '\n') fail(open, "unterminated array: expected ]");
  at_ = close + 1;

  std::vector<Extent> selectors;
  for (std::size_t begin = open + 1; begin <= close;) {
    const std::size_t comma = std::min(text_.find(',', begin), close);
    selectors.push_back({begin, comma});
    begin = comma + 1;
  }
  if (selectors.size() == 1) {
    selector(steps, selectors.front());
    return;
  }
  JsonPathStep step{.kind = Kind::Union, .offset = open};
  for (Extent each : selectors) {
    while (each.begin < each.end && text_[each.begin] == ' ') ++each.begin;
    while (each.begin < each.end && text_[each.end - 1] == ' ') --each.end;
    selector(step.paths.emplace_back(), each);
  }
  steps.push_back(std::move(step));
}

// Reads 'name', 'a.path', *, or a slice.
void JsonPathParser::selector(JsonPathSteps& steps, Extent extent) {
  const std::string_view text = textOf(extent);
  if (text.size() >= 2 && text.front() == '\'' && text.find('\'', 1) == text.size() - 1) {
    const std::size_t end = extent.end - 1;
    const std::size_t before = std::exchange(at_, extent.begin + 1);
    member(steps, end);
    JsonPathSteps more = path({at_, end});
    std::ranges::move(more, std::back_inserter(steps));
    at_ = before;
    return;
  }
  JsonPathStep step{.kind = Kind::Slice, .offset = extent.begin};
  if (text != "*") step.slice = slice(extent);
  steps.push_back(std::move(step));
}

JsonPathSlice JsonPathParser::slice(Extent extent) const {
  const std::string_view text = textOf(extent);
  const auto isPart = [](char c) { return isDigit(c) || c == '-' || c == ':'; };
  if (!std::ranges::all_of(text, isPart) || std::ranges::count(text, ':') > 2) {
    fail(extent.begin,
         fmt::format("invalid array index {}: expected a number, from:to:step, * or 'name'", text));
  }
  const std::size_t first = std::min(text_.find(':', extent.begin), extent.end);
  JsonPathSlice slice;
  slice.from = index({extent.begin, first});
  if (first == extent.end) {
    slice.single = true;
    slice.from = slice.from.value_or(0);  // [] is [0]
    slice.to = *slice.from + 1;
    return slice;
  }
  const std::size_t second = std::min(text_.find(':', first + 1), extent.end);
  slice.to = index({first + 1, second});
  if (second < extent.end) slice.step = index({second + 1, extent.end});
  return slice;
}

std::optional<std::int64_t> JsonPathParser::index(Extent extent) const {
  const std::string_view text = textOf(extent);
  if (text.empty()) return std::nullopt;
  // Leaves room for additions.
  constexpr std::int64_t kGreatest = std::int64_t{1} << 40;
  const auto value = parseNumber<std::int64_t>(text);
  if (!value || *value > kGreatest || *value < -kGreatest) {
    fail(extent.begin, fmt::format("array index {} is not a number", text));
  }
  return value;
}

void JsonPathParser::filter(JsonPathSteps& steps, std::size_t end) {
  const std::size_t open = at_;
  const Extent none{end, end};
  Extent compared = none;  // the operator
  char quote = '\0';
  for (at_ += 3;; ++at_) {
    if (at_ >= end || text_[at_] == '\n') fail(open, "unterminated filter: expected )]");
    const char c = text_[at_];
    if (c == '\\') {
      ++at_;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ')') {
      break;
    } else if (isOperatorCharacter(c) && compared.begin == end) {
      compared.begin = compared.end = at_;
      while (compared.end < end && isOperatorCharacter(text_[compared.end])) ++compared.end;
      at_ = compared.end - 1;
    }
  }
  const std::size_t close = at_;
  if (close + 1 >= end || text_[close + 1] != ']') {
    fail(close, "unclosed array: expected ] after )");
  }
  at_ = close + 2;

  JsonPathStep step{.kind = Kind::Filter, .offset = open};
  // A filter that begins with an operator is no comparison; reading the path reports the error.
  if (compared.begin == end || compared.begin == open + 3) {
    step.paths.push_back(path({open + 3, close}));
  } else {
    step.compare = comparison(compared);
    if (compared.end == close) {
      fail(close, fmt::format("expected something to compare with after {}", textOf(compared)));
    }
    step.paths.push_back(path({open + 3, compared.begin}));
    step.paths.push_back(path({compared.end, close}));
  }
  steps.push_back(std::move(step));
}

JsonPathOperator JsonPathParser::comparison(Extent extent) const {
  const std::string_view text = textOf(extent);
  if (text == "==") return JsonPathOperator::Equal;
  if (text == "!=") return JsonPathOperator::NotEqual;
  if (text == "<") return JsonPathOperator::Less;
  if (text == "<=") return JsonPathOperator::LessEqual;
  if (text == ">") return JsonPathOperator::Greater;
  if (text == ">=") return JsonPathOperator::GreaterEqual;
  fail(extent.begin,
       fmt::format("unrecognized filter operator {}: expected ==, !=, <, <=, > or >=", text));
}

void JsonPathParser::quoted(JsonPathSteps& steps, std::size_t end) {
  const std::size_t open = at_++;
  const char quote = text_[open];
  for (;; ++at_) {
    if (at_ >= end || text_[at_] == '\n') {
      fail(open, fmt::format("unterminated quoted string: expected {}", quote));
    }
    if (text_[at_] == quote) break;
    if (text_[at_] == '\\') ++at_;
  }
  JsonPathStep step{.kind = Kind::Literal, .offset = open};
  step.literal = unquote({open + 1, at_}, quote);
  steps.push_back(std::move(step));
  ++at_;
}

// Decodes Go's escapes of strings in double quotes; the same ones apply in single quotes.
std::string JsonPathParser::unquote(Extent extent, char quote) const {
  std::string out;
  for (std::size_t i = extent.begin; i < extent.end;) {
    if (text_[i] != '\\') {
      out += text_[i++];
      continue;
    }
    const std::size_t escape = i;
    const char c = text_[i + 1];
    i += 2;
    const auto code = [&](std::size_t from, std::size_t digits, int base) {
      const std::string_view all = textOf({from, std::min(from + digits, extent.end)});
      const auto value = parseNumber<std::uint32_t>(all, base);
      if (!value || all.size() != digits) fail(escape, "malformed escape");
      i = from + digits;
      return *value;
    };
    constexpr std::string_view kNames = "abfnrtv\\";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\";
    if (const auto name = kNames.find(c); name != std::string_view::npos) {
      out += kMeanings[name];
    } else if (c == quote) {
      out += c;
    } else if (c == 'x') {
      out += static_cast<char>(code(i, 2, 16));
    } else if (c >= '0' && c <= '7') {
      const std::uint32_t byte = code(i - 1, 3, 8);
      if (byte > 255) fail(escape, "malformed escape");
      out += static_cast<char>(byte);
    } else if (c == 'u' || c == 'U') {
      const std::uint32_t point = code(i, c == 'u' ? 4 : 8, 16);
      if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) fail(escape, "malformed escape");
      appendUtf8(out, point);
    } else {
      fail(escape, "unknown escape");
    }
  }
  if (!simdjson::validate_utf8(out.data(), out.size())) {
    fail(extent.begin, "the escapes do not make valid UTF-8");
  }
  return out;
}

void JsonPathParser::number(JsonPathSteps& steps, std::size_t end) {
  const std::size_t begin = at_++;
  while (at_ < end && (isDigit(text_[at_]) || text_[at_] == '.')) ++at_;
  std::string_view text = text_.substr(begin, at_ - begin);
  JsonPathStep step{.kind = Kind::Literal, .offset = begin};
  const auto reads = [&](auto value) {
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const char* last = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), last, value);
    if (error != std::errc() || stop != last) return false;
    step.literal = value;
    return true;
  };
  if (!reads(std::int64_t{}) && !reads(double{})) {
    fail(begin, fmt::format("cannot parse number {}", text));
  }
  steps.push_back(std::move(step));
}

void JsonPathParser::word(JsonPathSteps& steps, std::size_t end, Keyword* keyword) {
  const std::size_t begin = at_;
  while (at_ < end && !endsName(text_[at_])) ++at_;
  const std::string_view text = text_.substr(begin, at_ - begin);
  if (text == "true" || text == "false") {
    JsonPathStep step{.kind = Kind::Literal, .offset = begin};
    step.literal = text == "true";
    steps.push_back(std::move(step));
    return;
  }
  const Keyword found = text == "range" ? Keyword::Range
                        : text == "end" ? Keyword::End
                                        : Keyword::None;
  if (found == Keyword::None) {
    fail(begin, fmt::format("unrecognized identifier {0}: a member is .{0}, a text \"{0}\"", text));
  }
  if (keyword == nullptr || *keyword != Keyword::None || !steps.empty()) {
    fail(begin, fmt::format("{} is only expected right after {{", text));
  }
  *keyword = found;
}

}  // namespace

JsonPathTemplate parseJsonPath(std::string_view text) { return JsonPathParser(text).parse(); }

}  // namespace detail

std::string relaxedJsonPath(std::string_view text) {
  if (text.empty()) return {};
  std::string_view path = text;
  const bool braced = path.size() >= 2 && path.front() == '{' && path.back() == '}';
  if (braced) path = path.substr(1, path.size() - 2);
  if (path.size() > 1 && path.starts_with('.')) path.remove_prefix(1);
  if (path.empty() || path.find_first_of("{}") != std::string_view::npos) {
    throw DecodeError({.format = "jsonpath"},
                      fmt::format("unexpected path string \"{}\", expected a 'name1.name2' or "
                                  "'.name1.name2' or '{{name1.name2}}' or '{{.name1.name2}}'",
                                  text));
  }
  return fmt::format("{{.{}}}", path);
}

}  // namespace kube
