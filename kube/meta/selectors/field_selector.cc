#include "kube/meta/selectors/field_selector.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/utf8.h"

namespace kube::fields {
namespace {

[[noreturn]] void fail(std::size_t offset, std::string reason) {
  throw DecodeError({.format = "field selector", .offset = offset}, std::move(reason));
}

/// `offset` is the position of the text in the caller's text.
std::string unescape(std::string_view text, std::size_t offset) {
  std::string value;
  value.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' || c == '=') {
      fail(offset + i, fmt::format("unescaped character in value: '{}': write \\{} for it", c, c));
    }
    if (c == '\\') {
      if (++i == text.size()) fail(offset + i - 1, "invalid escape sequence: \\");
      if (text[i] != '\\' && text[i] != ',' && text[i] != '=') {
        char32_t code = 0;
        const std::size_t length = std::max<std::size_t>(1, detail::decodeUtf8(text, i, code));
        fail(offset + i - 1, fmt::format("invalid escape sequence: \\{}", text.substr(i, length)));
      }
    }
    value += text[i];
  }
  return value;
}

struct ParsedTerm {
  Requirement term;
  std::string text;  // the canonical text
};

ParsedTerm parseTerm(std::string_view text, std::size_t offset) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    fail(offset,
         fmt::format("can't understand '{}': expected a field, =, == or != and a value", text));
  }
  // The field ends at the first operator; nothing is escaped in it.
  const bool negated = equals > 0 && text[equals - 1] == '!';
  const std::size_t operand = equals + (!negated && text.substr(equals, 2) == "==" ? 2 : 1);
  ParsedTerm parsed;
  parsed.term.field = text.substr(0, negated ? equals - 1 : equals);
  parsed.term.op = negated ? SelectorOperator::NotEquals : SelectorOperator::Equals;
  parsed.term.value = unescape(text.substr(operand), offset + operand);
  parsed.text = parsed.term.str();
  return parsed;
}

}  // namespace

std::string Requirement::str() const {
  return fmt::format("{}{}{}", field, toString(op), escapeValue(value));
}

Selector Selector::nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Selector Selector::oneTermEqual(String field, String value) {
  Selector selector;
  selector.terms_.push_back({std::move(field), SelectorOperator::Equals, std::move(value)});
  return selector;
}

Selector Selector::oneTermNotEqual(String field, String value) {
  Selector selector;
  selector.terms_.push_back({std::move(field), SelectorOperator::NotEquals, std::move(value)});
  return selector;
}

Selector Selector::fromSet(const Map<String>& fields) {
  Selector selector;
  for (const auto& [field, value] : fields) {
    selector.terms_.push_back({field, SelectorOperator::Equals, value});
  }
  return selector;
}

Selector Selector::andSelectors(std::initializer_list<Selector> selectors) {
  Selector all;
  for (const Selector& selector : selectors) {
    if (selector.nothing_) return nothing();
    for (const Requirement& term : selector.terms_) all.terms_.push_back(term);
  }
  return all;
}

Selector Selector::parse(std::string_view text) {
  std::vector<ParsedTerm> parsed;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = start;
    while (end < text.size() && text[end] != ',') end += text[end] == '\\' ? 2 : 1;
    end = std::min(end, text.size());
    if (end > start) {
      ParsedTerm term = parseTerm(text.substr(start, end - start), start);
      if (!term.term.field.empty() || !term.term.value.empty()) parsed.push_back(std::move(term));
    }
    start = end + 1;
  }
  std::ranges::stable_sort(parsed, {}, &ParsedTerm::text);
  Selector selector;
  selector.terms_.reserve(parsed.size());
  for (ParsedTerm& term : parsed) selector.terms_.push_back(std::move(term.term));
  return selector;
}

bool Selector::matches(const Map<String>& fields) const noexcept {
  return !nothing_ && std::ranges::all_of(terms_, [&](const Requirement& term) {
    return term.matchesValue(fields[term.field]);
  });
}

std::optional<String> Selector::requiresExactMatch(std::string_view field) const {
  const auto at = std::ranges::find_if(terms_, [&](const Requirement& term) {
    return term.field == field && term.op != SelectorOperator::NotEquals;
  });
  return at != terms_.end() ? std::optional(at->value) : std::nullopt;
}

Selector Selector::transform(const Transform& transform) const {
  Selector result;
  result.nothing_ = nothing_;
  for (const Requirement& term : terms_) {
    auto [field, value] = transform(term.field, term.value);
    if (field.empty() && value.empty()) continue;
    result.terms_.push_back({std::move(field), term.op, std::move(value)});
  }
  return result;
}

std::string Selector::str() const {
  std::string text;
  for (const Requirement& term : terms_) {
    if (&term != &terms_[0]) text += ',';
    text += term.str();
  }
  return text;
}

std::string escapeValue(std::string_view value) {
  std::string text;
  text.reserve(value.size());
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') text += '\\';
    text += c;
  }
  return text;
}

std::string unescapeValue(std::string_view text) { return unescape(text, 0); }

std::ostream& operator<<(std::ostream& out, const Requirement& term) { return out << term.str(); }
std::ostream& operator<<(std::ostream& out, const Selector& selector) {
  return out << selector.str();
}

}  // namespace kube::fields
