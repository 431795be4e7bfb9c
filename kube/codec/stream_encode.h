// Lists and watches into bytes, object by object: what ListDecoder and WatchDecoder read.
//
//   ListEncoder list(Format::Protobuf, {"", "v1", "PodList"}, {.resourceVersion = "42"});
//   for (const AnyObject& pod : pods) list.add(pod);
//   std::string body = list.finish();
//
//   std::string frame = encodeWatchEvent(EventType::Added, pod, Format::Json);
//
// For servers: the items need not be in one list, nor of a type that has one.
//
// Thread safety: one thread at a time.
#pragma once

#include <string>

#include "kube/codec/format.h"
#include "kube/codec/stream.h"
#include "kube/meta/any_object.h"
#include "kube/meta/gvk.h"
#include "kube/meta/v1.h"

namespace kube {

class ListEncoder {
 public:
  /// JSON or protobuf. As upstream has it, items of described types do not say their kind in JSON,
  /// unless `named`.
  ListEncoder(Format format, GroupVersionKind list, const metav1::ListMeta& meta,
              bool named = false);

  /// Throws Error for what has no such form.
  void add(const AnyObject& item);
  std::string finish();

 private:
  const Format format_;
  const GroupVersionKind kind_;
  std::string out_;  // of protobuf, what is inside the envelope
  const bool named_;
  bool empty_ = true;
};

/// One frame of a watch, JSON or protobuf.
std::string encodeWatchEvent(EventType type, const AnyObject& object, Format format);

}  // namespace kube
