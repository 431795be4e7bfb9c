// Encodes lists and watches in the form that ListDecoder and WatchDecoder read.
//
//   std::string body = encodeList(Format::Protobuf, {"", "v1", "PodList"},
//                                 {.resourceVersion = "42"}, pods.size(),
//                                 [&](std::size_t i) -> const AnyObject& { return pods[i]; });
//   std::string frame = encodeWatchEvent(EventType::Added, pod, Format::Json);
//
// For servers: the items need not be stored in one list, and their type need not have a list type.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "kube/codec/format.h"
#include "kube/codec/stream.h"
#include "kube/meta/any_object.h"
#include "kube/meta/gvk.h"
#include "kube/meta/v1.h"

namespace kube {

/// Returns the i-th item, valid until the next call.
using ListItems = std::function<const AnyObject&(std::size_t i)>;

/// Encodes JSON or protobuf. Items are requested in any order, and more than once. As upstream
/// does, items of described types leave out their kind in JSON, unless `named`. Throws Error for an
/// item that has no such form.
std::string encodeList(Format format, const GroupVersionKind& list, const metav1::ListMeta& meta,
                       std::size_t count, const ListItems& item, bool named = false);

/// Encodes the same list in pieces, so that the whole list is never in memory.
class ListEncoder {
 public:
  /// Returns the size of the i-th item's protobuf, for callers that know it already.
  using Sizes = std::function<std::size_t(std::size_t i)>;

  /// A protobuf list starts with its size: items are requested twice, unless `sizeOf` is given.
  /// `lasting`: all items stay alive and unchanged until the list is done, so parts that they share
  /// are encoded once.
  ListEncoder(Format format, const GroupVersionKind& list, const metav1::ListMeta& meta,
              std::size_t count, ListItems item, bool named = false, const Sizes& sizeOf = {},
              bool lasting = false);
  ~ListEncoder();
  ListEncoder(ListEncoder&&) noexcept;

  /// Appends the next items to `out`, up to about `about` bytes. Returns false after the last item.
  bool next(std::string& out, std::size_t about);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The size of an object's protobuf as an item of a list, without its envelope. Throws Error if the
/// object has no protobuf form.
std::size_t protobufSize(const AnyObject& object);

/// Encodes one frame of a watch, as JSON or protobuf.
std::string encodeWatchEvent(EventType type, const AnyObject& object, Format format);

}  // namespace kube
