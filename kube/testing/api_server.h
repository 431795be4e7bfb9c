// A Kubernetes API server in the process: for tests of controllers, for demos, and for development
// without a cluster.
//
//   kube::testing::ApiServer server;
//   kube::Clientset clients(server.config());
//   clients.coreV1().namespaces().create(...);
//   server.kubeconfig();                       // for kubectl: write it to a file
//
// It behaves as kube-apiserver does: it has all built-in resources, custom resources by their
// definitions, watches, patches, server-side apply and finalizers. Deleting an owner deletes its
// dependents, and deleting a namespace deletes its objects. It has tables, discovery and OpenAPI
// for kubectl. Where the two differ, kube-apiserver is right. Nothing runs in it: pods are objects
// and stay pending, and deployments create no pods. Tests script the answers of logs, exec, attach
// and port-forward: see Containers.
//
// It starts within milliseconds, and holds everything in memory until it is destroyed. Tests can
// make it fail on purpose (see Fault), see, change and answer requests (see Reactor), and ask which
// requests were made.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/clock.h"
#include "kube/http/http_server.h"
#include "kube/rest/config.h"
#include "kube/testing/access.h"
#include "kube/testing/faults.h"
#include "kube/testing/reactors.h"
#include "kube/testing/request_log.h"
#include "kube/testing/scripted_container.h"

namespace kube::testing {

struct ApiServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free port
  /// Set to false for plain HTTP/1.1. Clients send no credentials of a kubeconfig without TLS, so
  /// the server then takes requests without credentials for the admin's. Therefore it listens only
  /// on loopback addresses, unless allowAnonymousAdmin is set.
  bool tls = true;
  bool allowAnonymousAdmin = false;
  bool http2 = true;
  int threads = 2;
  /// The users beside the admin, and what they may do.
  AccessOptions access = {};
  /// The admin's token; empty: a random token.
  std::string token = {};
  /// CustomResourceDefinitions and other objects that exist from the start, as YAML.
  std::vector<std::string> manifests = {};
  /// Deletes objects whose owners are all gone, or never existed, as in a cluster with controllers.
  bool garbageCollector = true;
  /// The number of latest changes that are kept for each resource. Watches and pages can start only
  /// from these.
  std::size_t historyWindow = 10'000;
  std::chrono::nanoseconds bookmarkPeriod = std::chrono::minutes(1);
  /// The number of latest requests that requests() returns.
  std::size_t keptRequests = 1000;
  Clock* clock = nullptr;  // null: the real clock
};

class ApiServer {
 public:
  /// Throws ConfigError if it cannot listen on the address, and Error for bad manifests.
  explicit ApiServer(ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// The address of the server, such as https://127.0.0.1:41235.
  std::string url() const;
  std::uint16_t port() const;

  /// The configuration for the admin, with a client certificate.
  Config config() const;
  /// The configuration for the user with this token. Without TLS, clients refuse to send the token.
  Config config(std::string_view token) const;
  std::string kubeconfig() const;
  std::string kubeconfig(std::string_view token) const;
  const std::string& adminToken() const;
  std::string caPem() const;

  // --- Failing on purpose.

  /// Adds a fault for requests from now on. Returns its id for forget().
  FaultId inject(Fault fault);
  void forget(FaultId id);
  void forgetAll();
  /// The number of requests that a fault has hit so far.
  std::uint64_t faultsHit() const;

  /// Makes open watches fail: those of `resource` ("pods"), or all if it is empty. Returns their
  /// number.
  std::size_t failWatches(WatchFault fault, std::string_view resource = {});
  /// Forgets all earlier revisions: watches and pages from them are refused with 410.
  void expireRevisions();
  /// Cuts all connections, and drops delayed requests. With `newHistory`, as after a restore from a
  /// backup, revisions start again at a low number and no old revision is known.
  void restart(bool newHistory = false);
  /// Stops reading and writing on all connections, present and future, until called with false.
  void goSilent(bool silent);

  // --- Requests that tests see and change.

  /// Calls the functions of the reactor for requests that match, until the handle is gone.
  ReactorHandle react(RequestFilter filter, Reactor reactor);
  /// The latest requests that match, in the order in which they came, also those that failed.
  std::vector<ReceivedRequest> requests(const RequestFilter& filter = {}) const;
  void forgetRequests();

  /// The scripts of containers: logs, programs and ports.
  Containers& containers() noexcept;

  /// Waits until the background work is done: dependents are collected, namespaces emptied and
  /// definitions served.
  void settle() const;
  std::int64_t revision() const;
  HttpServerStats stats() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kube::testing
