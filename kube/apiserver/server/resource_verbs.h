// The verbs of an API server on its resources: a request in, an answer out.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kube/apiserver/server/pod_streams.h"
#include "kube/apiserver/server/verb_call.h"
#include "kube/apiserver/server/watch_body.h"
#include "kube/apiserver/storage/object_store.h"
#include "kube/testing/access.h"
#include "kube/testing/api_request.h"

namespace kube::apiserver {

class ResourceVerbs {
 public:
  ResourceVerbs(ObjectStore& store, testing::Access& access, PodStreams& podStreams,
                Clock::Duration bookmarkPeriod)
      : store_(store), access_(access), podStreams_(podStreams), bookmarkPeriod_(bookmarkPeriod) {}

  /// Throws ApiError where the request is refused.
  void handle(const testing::ApiRequest& request, const testing::User& user, Reply& reply);

  /// The watches under way, for faults.
  std::vector<std::shared_ptr<WatchBody>> watches();

 private:
  Target targetOf(const testing::ApiRequest& request) const;
  void get(VerbCall& call);
  void list(VerbCall& call);
  void watch(VerbCall& call);
  void create(VerbCall& call);
  void update(VerbCall& call);
  void patch(VerbCall& call);
  void remove(VerbCall& call);
  void removeCollection(VerbCall& call);
  void scale(VerbCall& call);
  void evict(VerbCall& call);
  void bind(VerbCall& call);
  void token(VerbCall& call);
  void review(VerbCall& call);
  bool special(VerbCall& call);

  AnyObject decodeBody(VerbCall& call, const Target& target, std::string_view validation) const;
  Value applied(VerbCall& call, const AnyObject* current, const metav1::PatchOptions& options,
                const Value& config, const WriteOptions& write) const;
  ObjectFilter filterOf(const VerbCall& call, const metav1::ListOptions& options) const;
  static std::int64_t revisionOf(std::string_view text);
  /// Of a revision that is to come yet, throws ApiError.
  std::int64_t reachedRevisionOf(std::string_view text) const;

  ObjectStore& store_;
  testing::Access& access_;
  PodStreams& podStreams_;
  const Clock::Duration bookmarkPeriod_;
  std::mutex watchesMutex_;
  std::vector<std::weak_ptr<WatchBody>> watches_;
};

}  // namespace kube::apiserver
