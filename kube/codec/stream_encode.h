// Lists and watches into bytes: what ListDecoder and WatchDecoder read.
//
//   std::string body = encodeList(Format::Protobuf, {"", "v1", "PodList"}, {.resourceVersion =
//   "42"},
//                                 pods.size(), [&](std::size_t i) -> const AnyObject& { return
//                                 pods[i]; });
//   std::string frame = encodeWatchEvent(EventType::Added, pod, Format::Json);
//
// For servers: the items need not be in one list, nor of a type that has one.
//
// Thread safety: any thread may call.
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

/// Hands out the i-th item, valid until the next call.
using ListItems = std::function<const AnyObject&(std::size_t i)>;

/// JSON or protobuf. Items are asked for in any order, and more than once. As upstream has it,
/// items of described types do not say their kind in JSON, unless `named`. Throws Error for an item
/// that has no such form.
std::string encodeList(Format format, const GroupVersionKind& list, const metav1::ListMeta& meta,
                       std::size_t count, const ListItems& item, bool named = false);

/// The same piece by piece, for lists that nobody wants to hold in memory as a whole.
class ListEncoder {
 public:
  /// The size of the i-th item's protobuf, for one who knows it already.
  using Sizes = std::function<std::size_t(std::size_t i)>;

  /// In protobuf, the size of the whole comes first: items are asked for twice, unless their sizes
  /// are known. `lasting`: all items stay alive and as they are until the list is done, so what
  /// they share is looked at once.
  ListEncoder(Format format, const GroupVersionKind& list, const metav1::ListMeta& meta,
              std::size_t count, ListItems item, bool named = false, const Sizes& sizeOf = {},
              bool lasting = false);
  ~ListEncoder();
  ListEncoder(ListEncoder&&) noexcept;

  /// Adds the next items to `out`, up to about so many bytes. False when these were the last.
  bool next(std::string& out, std::size_t about);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The size of an object's protobuf as an item of a list, without its envelope. Throws Error where
/// it has none.
std::size_t protobufSize(const AnyObject& object);

/// One frame of a watch, JSON or protobuf.
std::string encodeWatchEvent(EventType type, const AnyObject& object, Format format);

}  // namespace kube
