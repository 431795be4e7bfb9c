// The subresources of pods that stream: logs, exec, attach and port-forward, answered from scripted
// containers.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <string>
#include <string_view>

#include "kube/api/core/v1.h"
#include "kube/apiserver/server/verb_call.h"
#include "kube/apiserver/storage/object_store.h"
#include "kube/testing/scripted_container.h"

namespace kube::apiserver {

class PodStreams {
 public:
  PodStreams(ObjectStore& store, testing::Containers& containers)
      : store_(store), containers_(containers.state()) {}

  /// Answers a request for one of these subresources. Returns false for all others. Throws ApiError
  /// if the request is refused.
  bool answer(VerbCall& call);

 private:
  void log(const VerbCall& call);
  void run(const VerbCall& call, bool attach);
  void forward(const VerbCall& call);

  corev1::Pod podOf(const VerbCall& call) const;

  ObjectStore& store_;
  ContainerState& containers_;
};

}  // namespace kube::apiserver
