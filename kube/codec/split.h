// Cuts a body that arrives in chunks of any size into the parts that are decoded one by one: the
// items of a LIST, or the frames of a watch. Holds at most one unfinished part.
//
// For source files of this folder; the public face is kube/codec/stream.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/codec/json_index.h"

namespace kube::detail {

/// Receives the parts. Views are valid during the call only.
class SplitSink {
 public:
  virtual ~SplitSink() = default;
  /// An item of a list, or a frame. `offset` is where in the body it starts.
  virtual void item(std::string_view bytes, std::size_t offset) = 0;
  /// The same for items of a JSON list, which are indexed many at a time: the item is at `token`.
  /// Returns the token behind it. Errors count from the start of what is indexed. `itemDone`
  /// follows at once, apart, since errors from there are none of the text.
  virtual std::uint32_t item(const JsonIndex&, std::uint32_t token) { return token; }
  virtual void itemDone() {}
  /// A list's items follow; its kind may be known by now.
  virtual void begin() {}
  /// A list's other members: its metadata; kind and apiVersion as their bare text.
  virtual void metadata(std::string_view, std::size_t) {}
  virtual void kind(std::string_view) {}
  virtual void apiVersion(std::string_view) {}
};

/// Counts lines of what has gone by, so that errors can name them.
class LineCounter {
 public:
  void pass(std::string_view text) noexcept;
  std::size_t line() const noexcept { return line_; }
  std::size_t column() const noexcept { return column_; }

 private:
  std::size_t line_ = 1;
  std::size_t column_ = 1;
};

class Splitter {
 public:
  Splitter(SplitSink& sink, std::size_t maxPart) : sink_(sink), maxPart_(maxPart) {}
  virtual ~Splitter() = default;
  /// Throws DecodeError; and whatever the sink throws.
  virtual void feed(std::string_view chunk) = 0;
  /// The body has ended. Throws DecodeError if it was incomplete.
  virtual void finish() = 0;

 protected:
  SplitSink& sink_;
  const std::size_t maxPart_;
  std::string partial_;         // the beginning of the part under way
  std::size_t passed_ = 0;      // bytes of the body before the current chunk
  std::size_t partOffset_ = 0;  // where the part under way starts
};

/// Finds the end of one JSON value, across any number of pieces.
class JsonValueScanner {
 public:
  void start(char first) noexcept;
  /// Takes in what follows the value's first character, or the last piece. Returns how many bytes
  /// of it belong to the value, and whether the value is complete.
  std::size_t scan(std::string_view piece, bool& complete) noexcept;

 private:
  enum class Kind : std::uint8_t { Scalar, String, Nested };
  Kind kind_ = Kind::Scalar;
  std::uint64_t depth_ = 0;
  std::uint64_t inString_ = 0;    // all ones inside a string
  std::uint64_t escapeNext_ = 0;  // 1 if the next character is escaped
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

  /// An error inside a part or an indexed piece, as seen from the whole body.
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
  void part(std::string_view bytes);
  void member(std::string_view bytes);
  std::size_t items(std::string_view chunk, std::size_t offset);
  bool isOversized(std::string_view text) const;
  [[noreturn]] void failOversized(std::string_view text, std::size_t offset);
  std::size_t takeItems(std::string_view text, std::size_t offset, bool final);
  std::size_t piece(std::string_view text, std::size_t offset, bool whole);
  [[noreturn]] void fail(std::size_t offset, std::string_view reason, std::string path = {}) const;

  const Mode mode_;
  State state_;
  State valueState_ = State::Value;  // what the value under way is, while InValue
  std::string key_;
  bool sawItems_ = false;
  bool itemDue_ = true;  // in a list's items: an item, not a ',', is due next
  bool firstItem_ = true;
  std::size_t retryAt_ = 0;  // how much must have come before looking for items again
  JsonIndex index_;
  JsonValueScanner scanner_;
  LineCounter lines_;      // up to what is being looked at
  LineCounter partLines_;  // up to the start of the part or piece under way
};

/// The list inside its envelope, field by field.
class ProtobufListSplitter : public Splitter {
 public:
  using Splitter::Splitter;
  void feed(std::string_view chunk) override;
  void finish() override;

 private:
  bool header(char byte, std::size_t offset);
  void part(std::string_view bytes);
  void endOfList();
  [[noreturn]] void fail(std::size_t offset, std::string_view reason) const;

  std::string header_;  // of the field under way: magic, or key and length
  bool sawMagic_ = false;
  bool sawList_ = false;
  bool inPart_ = false;  // reading `needed_` bytes of a field
  bool inList_ = false;  // inside the envelope's raw object
  std::uint32_t tag_ = 0;
  bool isBytes_ = false;  // of the field under way: length-prefixed
  std::uint64_t needed_ = 0;
  std::uint64_t listLeft_ = 0;  // bytes of the raw object not read yet
};

/// Frames with a 4-byte big-endian length in front.
class ProtobufFrameSplitter : public Splitter {
 public:
  using Splitter::Splitter;
  void feed(std::string_view chunk) override;
  void finish() override;

 private:
  std::string length_;
  std::uint64_t needed_ = 0;
  bool inPart_ = false;
};

}  // namespace kube::detail
