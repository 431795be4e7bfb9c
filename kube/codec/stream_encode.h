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
#include <string>

#include "kube/codec/format.h"
#include "kube/codec/stream.h"
#include "kube/meta/any_object.h"
#include "kube/meta/gvk.h"
#include "kube/meta/v1.h"

namespace kube {

/// Hands out the i-th item, valid until the next call.
using ListItems = std::function<const AnyObject&(std::size_t i)>;

/// JSON or protobuf, which is written back to front: items are asked for once each, in either
/// order. As upstream has it, items of described types do not say their kind in JSON, unless
/// `named`. Throws Error for an item that has no such form.
std::string encodeList(Format format, const GroupVersionKind& list, const metav1::ListMeta& meta,
                       std::size_t count, const ListItems& item, bool named = false);

/// One frame of a watch, JSON or protobuf.
std::string encodeWatchEvent(EventType type, const AnyObject& object, Format format);

}  // namespace kube
