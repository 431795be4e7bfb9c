// The positions of the tokens of one JSON text, for the decoders in this folder.
//
// simdjson finds the structural characters and checks UTF-8. This class adds the index of the
// closing bracket to every opening one, so that the extent of a value is known before it is
// decoded. Because of that, a Pool can answer for a whole subtree. Walkers check the grammar
// between brackets.
//
// Thread safety: one thread at a time. The text must outlive the index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Appends a code point, which must be valid.
void appendUtf8(std::string& out, std::uint32_t code);

class JsonIndex {
 public:
  using Token = std::uint32_t;  // an index into the tokens

  JsonIndex();
  ~JsonIndex();
  JsonIndex(JsonIndex&&) noexcept;

  /// Indexes one whole text. Throws DecodeError.
  void build(std::string_view text);

  /// Indexes a piece of an array that starts where an element or a ',' is expected. Brackets may be
  /// open at its end. A ']' may close the array, which ends the index. Returns false if the piece
  /// ends inside a string, which makes it useless. Throws DecodeError.
  bool buildPiece(std::string_view piece);

  Token count() const noexcept { return count_; }
  /// The token's first character; '\0' past the last token.
  char at(Token token) const noexcept { return token < count_ ? text_[begin_[token]] : '\0'; }
  std::size_t offset(Token token) const noexcept {
    return token < count_ ? begin_[token] : text_size_;
  }
  /// The end of the token: behind a bracket, comma or colon, or behind a scalar.
  std::size_t end(Token token) const noexcept {
    const char c = at(token);
    const bool single = c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':';
    return single ? offset(token) + 1 : offset(token) + scalar(token).size();
  }
  bool opens(Token token) const noexcept { return at(token) == '{' || at(token) == '['; }
  /// The closing bracket of an opening one; 0 if a piece ends before it.
  Token close(Token token) const noexcept { return close_[token]; }
  /// The token behind the value that starts here.
  Token after(Token token) const noexcept { return opens(token) ? close_[token] + 1 : token + 1; }

  /// The text of a string token between its quotes, with its escapes. Throws DecodeError.
  std::string_view rawString(Token token) const;
  /// The text of a number or a literal.
  std::string_view scalar(Token token) const noexcept;
  /// The text of any value, brackets and quotes included.
  std::string_view rawValue(Token token) const;

  /// The same without white space between tokens; `scratch` holds the result if there was any.
  std::string_view compactValue(Token token, std::string& scratch) const;

  /// The content of a string token; `scratch` holds it if the token has escapes. Throws
  /// DecodeError.
  std::string_view string(Token token, std::string& scratch) const;

  /// Checks the grammar of the value that starts here, and returns the token behind it. For values
  /// that are kept as text or skipped. Throws DecodeError.
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

/// True if `text` is a number by JSON's grammar; `isInteger` is false with a fraction or exponent.
bool isJsonNumber(std::string_view text, bool& isInteger) noexcept;

/// True if the text is exactly one valid JSON value.
bool isValidJson(std::string_view text);

/// The line and column of an offset; both count from 1.
struct LineColumn {
  std::size_t line;
  std::size_t column;
};
LineColumn lineColumn(std::string_view text, std::size_t offset) noexcept;

}  // namespace kube::detail
