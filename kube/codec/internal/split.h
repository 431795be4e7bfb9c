// Cuts a body that arrives in chunks of any size into parts that are decoded one by one: the items
// of a list, or the frames of a watch. Holds at most one unfinished part.
//
// For source files of this folder; the public face is kube/codec/stream.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/codec/internal/json_index.h"

namespace kube::detail {

/// Receives the parts. Views are valid during the call only.
class SplitSink {
 public:
  virtual ~SplitSink() = default;
  /// Takes an item of a list, or a frame of protobuf. `offset` is its place in the body.
  virtual void item(std::string_view bytes, std::size_t offset) = 0;
  /// Takes an item of a JSON list. Such items are indexed many at a time, and this one is at
  /// `token`. Returns the token behind it. Errors count from the start of the indexed text.
  /// itemDone() follows as a separate call, so that an exception of the sink is not reported as an
  /// error in the text.
  virtual std::uint32_t item(const JsonIndex&, std::uint32_t token) { return token; }
  virtual void itemDone() {}
  /// Takes a frame of JSON, which is indexed on its own.
  virtual void frame(const JsonIndex&, std::size_t offset) { static_cast<void>(offset); }
  /// The list's items follow. Its kind may be known already.
  virtual void begin() {}
  /// Other members of a list: its metadata; kind and apiVersion as plain strings.
  virtual void metadata(std::string_view, std::size_t) {}
  virtual void kind(std::string_view) {}
  virtual void apiVersion(std::string_view) {}
};

class Splitter {
 public:
  Splitter(SplitSink& sink, std::size_t maxPart) : sink_(sink), maxPart_(maxPart) {}
  virtual ~Splitter() = default;
  /// Throws DecodeError, and exceptions of the sink.
  virtual void feed(std::string_view chunk) = 0;
  /// Ends the body. Throws DecodeError if it is incomplete.
  virtual void finish() = 0;

 protected:
  SplitSink& sink_;
  const std::size_t maxPart_;
  std::string partial_;         // the beginning of the current part
  std::size_t passed_ = 0;      // bytes of the body before the current chunk
  std::size_t partOffset_ = 0;  // place of the current part in the body
};

}  // namespace kube::detail
