// The verbs of an API server on its resources: dispatch here, reading in read_verbs.cc, writing in
// write_verbs.cc, subresources and reviews in special_verbs.cc.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/apiserver/server/pod_streams.h"
#include "kube/apiserver/server/verb_call.h"
#include "kube/apiserver/server/watch_body.h"
#include "kube/apiserver/storage/object_store.h"
#include "kube/base/internal/mutex.h"
#include "kube/testing/access.h"
#include "kube/testing/api_request.h"

namespace kube::apiserver {

class ResourceVerbs {
 public:
  ResourceVerbs(ObjectStore& store, testing::Access& access, PodStreams& podStreams,
                Clock::Duration bookmarkPeriod)
      : store_(store), access_(access), podStreams_(podStreams), bookmarkPeriod_(bookmarkPeriod) {}

  /// Answers a request for a resource. Throws ApiError if it is refused.
  void handle(const testing::ApiRequest& request, const testing::User& user, Reply& reply);

  /// The watches under way, to which faults are applied.
  std::vector<std::shared_ptr<WatchBody>> watches();

 private:
  Target targetOf(const testing::ApiRequest& request) const;

  // read_verbs.cc
  void get(VerbCall& call);
  void list(VerbCall& call);
  void watch(VerbCall& call);

  // write_verbs.cc
  void create(VerbCall& call);
  void update(VerbCall& call);
  void patch(VerbCall& call);
  void remove(VerbCall& call);
  void removeCollection(VerbCall& call);

  // special_verbs.cc
  /// Answers requests that are not about the objects themselves. Returns false for all others.
  bool special(VerbCall& call);
  void scale(VerbCall& call);
  void evict(VerbCall& call);
  void bind(VerbCall& call);
  void token(VerbCall& call);
  void review(VerbCall& call);

  ObjectFilter filterOf(const VerbCall& call, const metav1::ListOptions& options) const;
  static std::int64_t revisionOf(std::string_view text);
  /// Throws ApiError for a revision in the future.
  std::int64_t reachedRevisionOf(std::string_view text) const;

  ObjectStore& store_;
  testing::Access& access_;
  PodStreams& podStreams_;
  const Clock::Duration bookmarkPeriod_;
  detail::Mutex watchesMutex_;
  std::vector<std::weak_ptr<WatchBody>> watches_ KUBE_GUARDED_BY(watchesMutex_);
};

}  // namespace kube::apiserver
