// The parser of label selectors. The grammar, with white space (blank, tab, CR, LF) allowed between
// any two parts:
//
//   selector    = [ requirement { "," requirement } ]
//   requirement = [ "!" ] KEY | KEY ( "=" | "==" | "!=" | ">" | "<" ) [ VALUE ]
//               | KEY ( "in" | "notin" ) "(" [ VALUE ] { "," [ VALUE ] } ")"
//
// "in" and "notin" are operators only after a key; elsewhere they are ordinary words.
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/joined.h"
#include "kube/meta/selectors/label_selector.h"
#include "kube/meta/validation/validation.h"

namespace kube::labels {
namespace {

using Operator = SelectorOperator;

struct Token {
  enum class Kind { End, Word, Symbol } kind = Kind::End;
  std::string_view text = {};
  std::size_t offset = 0;

  bool isEnd() const noexcept { return kind == Kind::End; }
  bool isWord() const noexcept { return kind == Kind::Word; }
  bool is(std::string_view symbol) const noexcept { return kind == Kind::Symbol && text == symbol; }
};

bool isSpace(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool isSymbol(char c) noexcept {
  return std::string_view("=!(),><").find(c) != std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, const ErrorPath& path) : text_(text), path_(path) { advance(); }

  std::vector<Requirement> parse() {
    std::vector<Requirement> requirements;
    if (next_.isEnd()) return requirements;
    if (!startsRequirement()) fail(next_, "!, identifier, or 'end of string'");
    for (;;) {
      requirements.push_back(requirement());
      const Token end = take();
      if (end.isEnd()) return requirements;
      if (!end.is(",")) fail(end, "',' or 'end of string'");
      if (!startsRequirement()) fail(next_, "identifier after ','");
    }
  }

 private:
  [[noreturn]] void fail(const Token& found, std::string_view expected) const {
    failAt(found.offset, fmt::format("found '{}', expected: {}", found.text, expected));
  }
  [[noreturn]] void failRequirement(const Token& found, std::string_view expected) const {
    failRequirement(found.offset, fmt::format("found '{}', expected: {}", found.text, expected));
  }
  [[noreturn]] void failRequirement(std::size_t offset, std::string_view why) const {
    failAt(offset, fmt::format("unable to parse requirement: {}", why));
  }
  [[noreturn]] static void failAt(std::size_t offset, std::string reason) {
    throw DecodeError({.format = "label selector", .offset = offset}, std::move(reason));
  }

  bool startsRequirement() const noexcept { return next_.isWord() || next_.is("!"); }

  void advance() noexcept {
    while (at_ < text_.size() && isSpace(text_[at_])) ++at_;
    const std::size_t start = at_;
    if (at_ == text_.size()) {
      next_ = {Token::Kind::End, {}, start};
      return;
    }
    if (isSymbol(text_[at_])) {
      const bool isDouble = text_.substr(at_, 2) == "==" || text_.substr(at_, 2) == "!=";
      at_ += isDouble ? 2 : 1;
      next_ = {Token::Kind::Symbol, text_.substr(start, at_ - start), start};
      return;
    }
    while (at_ < text_.size() && !isSpace(text_[at_]) && !isSymbol(text_[at_])) ++at_;
    next_ = {Token::Kind::Word, text_.substr(start, at_ - start), start};
  }

  Token take() noexcept {
    const Token token = next_;
    advance();
    return token;
  }

  Requirement requirement() {
    const bool negated = next_.is("!");
    if (negated) advance();
    const Token key = take();
    if (!key.isWord()) failRequirement(key, "identifier");
    if (const auto reasons = validation::isQualifiedName(key.text); !reasons.empty()) {
      const auto error = FieldError::invalid(path_, key.text, joined(reasons, "; "));
      failRequirement(key.offset, error.str());
    }
    if (negated) return make(key, Operator::DoesNotExist, {});
    if (next_.isEnd() || next_.is(",")) return make(key, Operator::Exists, {});
    const Operator op = comparison();
    const bool isSet = op == Operator::In || op == Operator::NotIn;
    return make(key, op, isSet ? valueSet() : List<String>{exactValue()});
  }

  Requirement make(const Token& key, Operator op, List<String> values) const {
    try {
      return Requirement(key.text, op, std::move(values), path_);
    } catch (const ValidationError& e) {
      failRequirement(key.offset, e.what());
    }
  }

  Operator comparison() {
    static constexpr std::pair<std::string_view, Operator> kOperators[] = {
        {"in", Operator::In},           {"notin", Operator::NotIn},  {"=", Operator::Equals},
        {"==", Operator::DoubleEquals}, {"!=", Operator::NotEquals}, {">", Operator::GreaterThan},
        {"<", Operator::LessThan},
    };
    const Token token = take();
    for (const auto& [text, op] : kOperators) {
      if (token.text == text) return op;
    }
    failRequirement(token, "in, notin, =, ==, !=, gt, lt");
  }

  /// A missing value stands for "".
  std::string_view exactValue() {
    if (next_.isEnd() || next_.is(",")) return {};
    const Token value = take();
    if (!value.isWord()) failRequirement(value, "identifier");
    return value.text;
  }

  /// The values, sorted and unique. An empty place before, between or after commas stands for "".
  List<String> valueSet() {
    if (const Token open = take(); !open.is("(")) {
      failRequirement(open.offset, fmt::format("found '{}' expected: '('", open.text));
    }
    std::vector<std::string_view> values;
    for (;;) {
      if (next_.isWord()) {
        values.push_back(take().text);
        if (!next_.is(",") && !next_.is(")")) failRequirement(next_, "',' or ')'");
      } else if (next_.is(",") || next_.is(")")) {
        if (values.empty() || !values.back().empty()) values.emplace_back();
      } else {
        failRequirement(next_, "',', ')' or identifier");
      }
      if (take().is(")")) break;
    }
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    List<String> list;
    list.reserve(values.size());
    for (const std::string_view value : values) list.push_back(value);
    return list;
  }

  const std::string_view text_;
  const ErrorPath& path_;
  std::size_t at_ = 0;  // the position after next_
  Token next_;
};

}  // namespace

Selector Selector::parse(std::string_view text, const ErrorPath& path) {
  return Selector(Parser(text, path).parse());
}

}  // namespace kube::labels
