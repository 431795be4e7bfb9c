// The latest requests to an API server, for tests that look at what a program has sent.
//
//   for (const auto& request : server.requests({.verb = "patch", .resource = "pods"})) {
//     request.name; request.user.name; request.param("fieldManager"); request.http.body;
//   }
//
// Memory is bounded: beyond the number of requests, or 16 MiB of bodies, the oldest are forgotten.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/testing/access.h"
#include "kube/testing/api_request.h"

namespace kube::testing {

/// A request that the server has received, whether it was carried out or not.
struct ReceivedRequest : ApiRequest {
  /// Without a name if the credentials are unknown.
  User user = {.name = {}, .groups = {}};
};

class RequestLog {
 public:
  /// Keeps the latest `most` requests.
  RequestLog(std::size_t most, const Access& access) : most_(most), access_(access) {}

  void add(const std::shared_ptr<const ApiRequest>& request);
  void clear();
  /// The requests that match, in the order in which they came.
  std::vector<ReceivedRequest> list(const RequestFilter& filter) const;

 private:
  const std::size_t most_;
  const Access& access_;
  mutable detail::Mutex requestsMutex_;
  std::deque<std::shared_ptr<const ApiRequest>> requests_ KUBE_GUARDED_BY(requestsMutex_);
  std::size_t bytes_ KUBE_GUARDED_BY(requestsMutex_) = 0;  // of bodies
};

}  // namespace kube::testing
