// Requests to one API group and version of a server, or to any of its paths.
//
//   kube::RestClient rest(config, {"apps", "v1"});
//   auto list =
//       rest.get().namespace_("book").resource("deployments").into<appsv1::DeploymentList>();
//   rest.patch(PatchType::Merge, patch).resource("nodes").name("a").into<corev1::Node>();
//
// Most programs use the clients of kube/client, which are built on this class.
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
#include "kube/rest/client_defaults.h"
#include "kube/rest/request.h"

namespace kube {

class RestClient {
 public:
  /// Throws ConfigError; and, as forVersion() does, Error for a group or version that is not a DNS
  /// name, because it may come from an untrusted object.
  explicit RestClient(const Config& config, GroupVersion version = {})
      : RestClient(std::make_shared<ApiConnection>(config), std::move(version)) {}
  RestClient(std::shared_ptr<ApiConnection> connection, GroupVersion version);

  /// Returns a client of the same server with another group and version.
  RestClient forVersion(GroupVersion version) const;
  /// Returns a client whose requests are sent again at most `n` times; see Request::maxRetries().
  RestClient withMaxRetries(int n) const;

  /// Returns a client whose requests have these options, and those of this client that `defaults`
  /// does not set.
  RestClient withDefaults(const ClientDefaults& defaults) const;

  /// Returns a client that sends writing requests (all but GET and HEAD, and upgrades) only if the
  /// guard allows it. The guard is called right before each request is sent, also before retries,
  /// and returns the reason for a refusal, or nothing. A refused request throws Error.
  RestClient withWriteGuard(std::function<std::string()> guard) const;

  /// Returns a client with a transport for caches; see ApiConnection::forCaches().
  RestClient forCaches() const {
    RestClient client = *this;
    client.connection_ = connection_->forCaches();
    return client;
  }

  Request get() const { return verb("GET"); }
  Request post() const { return verb("POST"); }
  Request put() const { return verb("PUT"); }
  Request del() const { return verb("DELETE"); }
  /// A PATCH request with the patch as its body.
  Request patch(PatchType type, std::string patch) const;
  Request verb(std::string method) const;

  const GroupVersion& apiVersion() const noexcept { return version_; }
  const std::shared_ptr<RateLimiter>& rateLimiter() const noexcept {
    return connection_->rateLimiter();
  }
  const ClientDefaults& defaults() const noexcept;
  const Config& config() const noexcept { return connection_->config(); }
  const std::shared_ptr<ApiConnection>& connection() const noexcept { return connection_; }

 private:
  std::shared_ptr<ApiConnection> connection_;
  GroupVersion version_;
  std::string prefix_;  // "/api/v1", "/apis/apps/v1"; empty without a version
  std::optional<int> maxRetries_;
  std::function<std::string()> writeGuard_;
  std::shared_ptr<const ClientDefaults> defaults_;  // null: none
};

}  // namespace kube
