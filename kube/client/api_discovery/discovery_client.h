// Asks a server for its version, groups and resources.
//
//   kube::DiscoveryClient discovery(config);                    // or (rest), to share a connection
//   discovery.serverVersion().gitVersion;                       // v1.34.1
//   for (const auto& group : discovery.serverGroups().groups) ...
//   auto served = discovery.serverPreferredResources();         // as in kubectl api-resources
//   std::string schema = discovery.openApiV3({"apps", "v1"});   // JSON
//
// Servers since 1.26 return everything in two answers (aggregated discovery); others need one
// request for each group-version, and several are under way at a time. Both give the same result.
// Every call asks the server: see CachedDiscoveryClient for a cache.
//
// A server without /api extends the API: it has no core group. Every other failure to read /api or
// /apis, such as a 403, is thrown.
//
// async() returns the awaitable form of all of it.
//
// Errors: see kube/client/api_discovery/discovery.h. A DecodeError names the document.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/map.h"
#include "kube/client/api_discovery/discovery.h"
#include "kube/rest/rest_client.h"

namespace kube {

enum class OpenApiFormat : unsigned char { Json, Protobuf };

struct DiscoveryClientOptions {
  /// Never requests aggregated discovery.
  bool legacy = false;
  /// If several servers share one address: returns only the resources that the answering server
  /// serves itself.
  bool noPeers = false;
};

class AsyncDiscoveryClient;

class DiscoveryClient final : public Discovery {
 public:
  /// The timeout of a request if the Config has none.
  static constexpr std::chrono::seconds kDefaultTimeout{32};
  /// The number of requests at once if the Config has none: discovery is bursty.
  static constexpr int kDefaultBurst = 300;

  /// Throws ConfigError.
  explicit DiscoveryClient(const Config& config, DiscoveryClientOptions options = {});
  /// Shares the connection, and its rate limit.
  explicit DiscoveryClient(RestClient rest, DiscoveryClientOptions options = {})
      : rest_(std::move(rest)), options_(options) {}

  /// The awaitable form, whose tasks keep a copy of this client.
  AsyncDiscoveryClient async() const;

  /// Returns the schemas of everything that is served, in OpenAPI v2: a document of megabytes.
  std::string openApiV2(OpenApiFormat format = OpenApiFormat::Json,
                        const std::stop_token& stop = {}) const;
  /// Returns the documents of OpenAPI v3 by name ("api/v1", "apis/apps/v1"), each with its path.
  /// The path changes with the content, and so shows whether a copy is current.
  Map<String> openApiV3Paths(const std::stop_token& stop = {}) const;
  /// Returns the document of a group-version. Throws an ApiError (isNotFound) if there is none.
  std::string openApiV3(const GroupVersion& version, OpenApiFormat format = OpenApiFormat::Json,
                        const std::stop_token& stop = {}) const;
  /// Returns the document at one of the paths of openApiV3Paths().
  std::string openApiV3At(std::string_view place, OpenApiFormat format = OpenApiFormat::Json,
                          const std::stop_token& stop = {}) const;

  const RestClient& rest() const noexcept { return rest_; }

 private:
  friend class AsyncDiscoveryClient;
  struct Root;
  Task<ServerVersion> fetchVersion() const override;
  Task<metav1::APIGroupList> fetchGroups() const override;
  Task<metav1::APIResourceList> fetchResources(GroupVersion version) const override;
  Task<ServerResources> fetchAll() const override;
  Task<Root> root(std::string path) const;
  Task<Root> roots() const;
  Task<ServerResources> fetchAllOnce() const;
  Request get(std::string_view path) const;

  RestClient rest_;
  DiscoveryClientOptions options_;
};

/// The awaitable form of a DiscoveryClient.
class AsyncDiscoveryClient : public AsyncDiscovery {
 public:
  explicit AsyncDiscoveryClient(std::shared_ptr<const DiscoveryClient> client)
      : AsyncDiscovery(client), client_(std::move(client)) {}

  Task<std::string> openApiV2(OpenApiFormat format = OpenApiFormat::Json) const;
  Task<Map<String>> openApiV3Paths() const;
  Task<std::string> openApiV3(const GroupVersion& version,
                              OpenApiFormat format = OpenApiFormat::Json) const;
  Task<std::string> openApiV3At(std::string_view place,
                                OpenApiFormat format = OpenApiFormat::Json) const;

 private:
  std::shared_ptr<const DiscoveryClient> client_;
};

}  // namespace kube
