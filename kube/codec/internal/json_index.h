// Where the tokens of one JSON text are, for the decoders in this folder.
//
// simdjson finds the structural characters and checks UTF-8; this adds, for every opening bracket,
// the index of its closing one, so that a value's extent is known before it is decoded. That is
// what lets a Pool answer for a whole subtree. Grammar between brackets is the walker's to check.
//
// Not for several threads at once. The text must outlive its use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Appends a code point, which must be one.
void appendUtf8(std::string& out, std::uint32_t code);

class JsonIndex {
 public:
  using Token = std::uint32_t;  // an index into the tokens

  JsonIndex();
  ~JsonIndex();
  JsonIndex(JsonIndex&&) noexcept;

  /// Indexes one whole text. Throws DecodeError.
  void build(std::string_view text);

  /// Indexes a piece out of an array, from where an element or a ',' is due: brackets may be open
  /// at its end, and a ']' may close the array, which ends the index. False if the piece ends
  /// inside a string, which makes it useless. Throws DecodeError.
  bool buildPiece(std::string_view piece);

  Token count() const noexcept { return count_; }
  /// The token's first character; '\0' past the last token.
  char at(Token token) const noexcept { return token < count_ ? text_[begin_[token]] : '\0'; }
  std::size_t offset(Token token) const noexcept {
    return token < count_ ? begin_[token] : text_size_;
  }
  /// Where the token ends: behind a bracket, comma or colon, or behind a scalar.
  std::size_t end(Token token) const noexcept {
    const char c = at(token);
    const bool single = c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
    return single ? offset(token) + 1 : offset(token) + scalar(token).size();
  }
  bool opens(Token token) const noexcept { return at(token) == '{' || at(token) == '['; }
  /// The closing bracket of an opening one; in a piece, 0 if that has not come.
  Token close(Token token) const noexcept { return close_[token]; }
  /// The token behind the value that starts here.
  Token after(Token token) const noexcept { return opens(token) ? close_[token] + 1 : token + 1; }

  /// The text of a string token between its quotes, escapes and all. Throws DecodeError.
  std::string_view rawString(Token token) const;
  /// The text of a number or a literal.
  std::string_view scalar(Token token) const noexcept;
  /// The text of any value, brackets and quotes included.
  std::string_view rawValue(Token token) const;

  /// The same without white space between tokens; `scratch` is used where there is some.
  std::string_view compactValue(Token token, std::string& scratch) const;

  /// A string token's meaning; `scratch` is used where it has escapes. Throws DecodeError.
  std::string_view string(Token token, std::string& scratch) const;

  /// Checks the grammar of the value that starts here, and returns the token behind it. For what
  /// is kept as text or passed over. Throws DecodeError.
  Token check(Token token) const;

  [[noreturn]] void fail(Token token, std::string_view reason, std::string path = {}) const;
  [[noreturn]] void failAt(std::size_t offset, std::string_view reason,
                           std::string path = {}) const;

 private:
  struct Scanner;

  bool scan(std::string_view text);
  void link(bool isPiece);

  std::unique_ptr<Scanner> scanner_;
  const char* text_ = nullptr;
  std::size_t text_size_ = 0;
  const std::uint32_t* begin_ = nullptr;
  Token count_ = 0;
  std::vector<Token> close_;
};

/// Whether `text` is a number by JSON's grammar; `isInteger` is false with a fraction or exponent.
bool isJsonNumber(std::string_view text, bool& isInteger) noexcept;

/// Whether the text is exactly one valid JSON value.
bool isValidJson(std::string_view text);

/// 1-based line and column of an offset.
struct LineColumn {
  std::size_t line;
  std::size_t column;
};
LineColumn lineColumn(std::string_view text, std::size_t offset) noexcept;

}  // namespace kube::detail
