// Cuts a body that arrives in chunks of any size into the parts that are decoded one by one: the
// items of a LIST, or the frames of a watch. Holds at most one unfinished part.
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
  /// An item of a list, or a frame of protobuf. `offset` is where in the body it starts.
  virtual void item(std::string_view bytes, std::size_t offset) = 0;
  /// The same for items of a JSON list, which are indexed many at a time: the item is at `token`.
  /// Returns the token behind it. Errors count from the start of what is indexed. `itemDone`
  /// follows at once, apart, since errors from there are none of the text.
  virtual std::uint32_t item(const JsonIndex&, std::uint32_t token) { return token; }
  virtual void itemDone() {}
  /// The same for a frame of JSON, which is all that is indexed.
  virtual void frame(const JsonIndex&, std::size_t offset) { static_cast<void>(offset); }
  /// A list's items follow; its kind may be known by now.
  virtual void begin() {}
  /// A list's other members: its metadata; kind and apiVersion as their bare text.
  virtual void metadata(std::string_view, std::size_t) {}
  virtual void kind(std::string_view) {}
  virtual void apiVersion(std::string_view) {}
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

}  // namespace kube::detail
