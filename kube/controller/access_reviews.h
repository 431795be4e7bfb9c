// Lets an HTTP server of the program answer only readers whom the API server knows and permits: as
// controller-runtime does for metrics, by TokenReview and SubjectAccessReview.
//
//   kube::AccessReviews reviews(clients.rest());
//   kube::HttpServer server({.tls = kube::ServerTls{.certFile = cert, .keyFile = key}},
//                           reviews.guarding([](kube::ServerRequest request, auto responder) { ...
//                           }));
//
// A reader shows a bearer token, or a client certificate if the server asks for those (clientCaFile
// of ServerTls): its common name is the user, its organizations are the groups. The reader needs
// the permission for the path and the verb of the request: `nonResourceURLs: ["/metrics"], verbs:
// ["get"]`. The program needs the permission to create `tokenreviews` of authentication.k8s.io and
// `subjectaccessreviews` of authorization.k8s.io, which the ClusterRole system:auth-delegator has.
//
// Answers: 401 without valid credentials; 403 without the permission; 429 if too many unknown
// tokens come; 503 if too many requests wait; 500 if the API server cannot be asked. Nothing is
// served then: no result is used after its time.
//
// Results are kept for a short time, by a digest: tokens are neither stored nor logged. Tokens that
// are made up cost the API server no more than `reviewsPerSecond`, drive no result of a valid token
// out, and do not delay readers that were known before.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kube/base/clock.h"
#include "kube/http/http_server.h"
#include "kube/rest/rest_client.h"

namespace kube {

struct AccessReviewOptions {
  /// A token must be meant for one of these. Empty: for the API server.
  std::vector<std::string> audiences = {};
  /// The time for which a result of a TokenReview is used.
  std::chrono::nanoseconds tokenTime = std::chrono::minutes{1};
  /// The same for a SubjectAccessReview that allows, and for one that does not.
  std::chrono::nanoseconds allowTime = std::chrono::minutes{1};
  std::chrono::nanoseconds denyTime = std::chrono::seconds{10};
  std::size_t cacheSize = 1000;  // results of each kind; beyond, the oldest are forgotten
  /// The limit of reviews whose last result was not in the reader's favour, or that are new.
  double reviewsPerSecond = 5;
  int burst = 20;
  std::size_t maxWaiting = 50;  // requests that wait for reviews
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};
  Clock* clock = nullptr;  // null: the real one
};

class AccessReviews {
 public:
  /// Throws ConfigError for invalid options.
  explicit AccessReviews(RestClient rest, AccessReviewOptions options = {});
  /// Requests that wait are answered with 500.
  ~AccessReviews();
  AccessReviews(const AccessReviews&) = delete;
  AccessReviews& operator=(const AccessReviews&) = delete;

  /// Returns a handler that passes permitted requests on, on a thread of the server or of
  /// TaskThreads. The reviews must outlive the server.
  HttpHandler guarding(HttpHandler handler);

 private:
  class State;
  const std::unique_ptr<State> state_;
};

}  // namespace kube
