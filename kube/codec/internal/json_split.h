// Cuts JSON bodies into list items and watch frames (see kube/codec/internal/split.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/codec/internal/json_index.h"
#include "kube/codec/internal/json_value_scanner.h"
#include "kube/codec/internal/split.h"

namespace kube::detail {

/// Counts the lines of passed text, for errors.
class LineCounter {
 public:
  void pass(std::string_view text) noexcept;
  std::size_t line() const noexcept { return line_; }
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t line_ = 1;
  std::size_t column_ = 1;
};

class JsonSplitter : public Splitter {
 public:
  enum class Mode : std::uint8_t { List, Frames };
  JsonSplitter(SplitSink& sink, std::size_t maxPart, Mode mode)
      : Splitter(sink, maxPart),
        mode_(mode),
        state_(mode == Mode::List ? State::Start : State::Frame) {}
  void feed(std::string_view chunk) override;
  void finish() override;

  /// Converts the place of an error from a part or an indexed piece to the whole body.
  DecodeError located(const DecodeError& error, std::size_t offset) const;

 private:
  enum class State : std::uint8_t {
    Start,
    FirstKey,
    Key,
    Colon,
    Value,
    AfterValue,
    Items,
    Done,
    Frame,
    InValue,
  };
  bool isPunctuation(char c, std::size_t offset);
  std::size_t startValue(std::string_view chunk, std::size_t at);
  std::size_t continueValue(std::string_view chunk, std::size_t at);
  void indexedFrame(std::string_view bytes);
  [[noreturn]] void failTooLong() const;
  void part(std::string_view bytes);
  bool isFrame(std::string_view text);
  std::size_t lineEnd(std::string_view chunk, std::size_t at) noexcept;
  void member(std::string_view bytes);
  std::size_t items(std::string_view chunk, std::size_t offset);
  [[noreturn]] void failOversized(std::string_view text, std::size_t offset);
  std::size_t skipBlanks(std::string_view text);
  std::size_t takeOneByOne(std::string_view text, std::size_t offset);
  std::size_t takeItems(std::string_view text, std::size_t offset, bool final);
  std::size_t piece(std::string_view text, std::size_t offset, bool whole);
  [[noreturn]] void fail(std::size_t offset, std::string_view reason, std::string path = {}) const;

  const Mode mode_;
  State state_;
  State valueState_ = State::Value;  // the role of the current value, while InValue
  std::string key_;
  bool sawItems_ = false;
  bool itemDue_ = true;  // an item, not a ',', is next in a list's items
  bool firstItem_ = true;
  // A failed attempt is repeated only after more text has arrived: so much that all attempts
  // together take time in proportion to the body, whatever its chunks are.
  std::size_t retryAt_ = 0;  // bytes that must be there before the next search for items
  std::size_t guessAt_ = 0;  // offset in the body from which a frame's end may be guessed again
  JsonIndex index_;
  JsonValueScanner scanner_;
  LineCounter lines_;      // up to the current position
  LineCounter partLines_;  // up to the start of the current part or piece
};

}  // namespace kube::detail
