// Requests to one group and version of a server, or to any of its paths.
//
//   kube::RestClient rest(config, {"apps", "v1"});
//   auto list =
//   rest.get().namespace_("book").resource("deployments").into<appsv1::DeploymentList>();
//   rest.patch(PatchType::Merge).resource("nodes").name("a").body(patch) ...
//
// Most programs use the clients of kube/client, which are made of these.
//
// A RestClient is a cheap handle: copies, and the clients made by forVersion(), share one
// ApiConnection with its limiter and its transport.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kube/codec/patch/patch.h"
#include "kube/meta/gvk.h"
#include "kube/rest/api_connection.h"
#include "kube/rest/request.h"

namespace kube {

class RestClient {
 public:
  /// Throws ConfigError; and Error for a group or a version that is no DNS name, here and below: it
  /// may come from an object that somebody else has written.
  explicit RestClient(const Config& config, GroupVersion version = {})
      : RestClient(std::make_shared<ApiConnection>(config), std::move(version)) {}
  RestClient(std::shared_ptr<ApiConnection> connection, GroupVersion version);

  /// The same server, another group and version.
  RestClient forVersion(GroupVersion version) const;
  /// The same, for requests that are sent again at most so often; see Request::maxRetries().
  RestClient withMaxRetries(int n) const;

  /// The same, for requests that write (all but GET and HEAD, and what upgrades the connection)
  /// only where the guard lets them. It is asked right before each is sent, also again, and says
  /// why not; nothing: it may be sent. A request that is not sent throws Error.
  RestClient withWriteGuard(std::function<std::string()> guard) const;

  Request get() const { return verb("GET"); }
  Request post() const { return verb("POST"); }
  Request put() const { return verb("PUT"); }
  Request del() const { return verb("DELETE"); }
  /// With the patch as its body.
  Request patch(PatchType type, std::string patch) const;
  Request verb(std::string method) const;

  const GroupVersion& apiVersion() const noexcept { return version_; }
  const std::shared_ptr<RateLimiter>& rateLimiter() const noexcept {
    return connection_->rateLimiter();
  }
  const Config& config() const noexcept { return connection_->config(); }
  const std::shared_ptr<ApiConnection>& connection() const noexcept { return connection_; }

 private:
  std::shared_ptr<ApiConnection> connection_;
  GroupVersion version_;
  std::string prefix_;  // "/api/v1", "/apis/apps/v1"; empty without a version
  std::optional<int> maxRetries_;
  std::function<std::string()> writeGuard_;
};

}  // namespace kube
