// The pages of a manager over HTTP: health checks for anybody, and metrics, the debug page and
// pages of the program for permitted readers.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/internal/mutex.h"
#include "kube/base/task_threads.h"
#include "kube/controller/access_reviews.h"
#include "kube/controller/health.h"
#include "kube/http/http_server.h"
#include "kube/rest/rest_client.h"

namespace kube::detail {

struct ManagerPagesOptions {
  std::optional<HttpServerOptions> http = {};         // for health
  std::optional<HttpServerOptions> metricsHttp = {};  // for all other pages; none: `http`
  std::optional<AccessReviewOptions> readers = {};
  std::function<std::string()> metrics = {};
  std::function<std::string()> debug = {};  // none: there is no such page
};

class ManagerPages {
 public:
  /// The checks outlive the pages. Throws ConfigError.
  ManagerPages(ManagerPagesOptions options, const RestClient& rest, const HealthChecks& health,
               const HealthChecks& ready);
  ~ManagerPages();
  ManagerPages(const ManagerPages&) = delete;
  ManagerPages& operator=(const ManagerPages&) = delete;

  /// Throws Error if the path is not an absolute one, or is taken.
  void add(std::string path, HttpHandler handler);

  /// Empty if they are not served.
  std::string healthUrl() const;
  std::string otherUrl() const;

 private:
  void serveHealth(ServerRequest request, const Responder& responder);
  void serveOthers(ServerRequest request, const Responder& responder);

  const ManagerPagesOptions options_;
  const HealthChecks& health_;
  const HealthChecks& ready_;
  mutable Mutex pagesMutex_;
  // By path. One that ends with a slash stands for all paths below, too.
  std::map<std::string, std::shared_ptr<const HttpHandler>, std::less<>> pages_
      KUBE_GUARDED_BY(pagesMutex_);
  std::unique_ptr<AnswerQueue> healthAnswers_, readyAnswers_;
  std::unique_ptr<AnswerQueue> texts_;  // makes each page once for all who wait for it
  std::map<std::string, std::function<ServerResponse()>, std::less<>> makers_;
  TaskThreads threads_;
  std::unique_ptr<AccessReviews> reviews_;  // null: everybody may read
  // Use the members above, so they are destroyed first.
  std::unique_ptr<HttpServer> http_, metricsHttp_;
};

}  // namespace kube::detail
