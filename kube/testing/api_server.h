// A Kubernetes API server in the process: for tests of controllers, for demos, for anyone without a
// cluster.
//
//   kube::testing::ApiServer server;
//   kube::Clientset clients(server.config());
//   clients.coreV1().namespaces().create(...);
//   server.kubeconfig();                       // for kubectl: write it to a file
//
// It behaves as kube-apiserver does: all built-in resources, custom ones by their definitions,
// watch, patches, server-side apply, finalizers, owners and namespaces that take what is theirs
// with them, tables, discovery and OpenAPI for kubectl. Where the two differ, kube-apiserver is
// right. Nothing runs in it: pods are objects, and stay pending; deployments make none. Logs, exec,
// attach and port-forward are answered by what a test has written: see Containers.
//
// It starts within milliseconds, holds everything in memory, and is gone when destroyed. It can be
// told to fail on purpose: see Fault.
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
#include "kube/testing/scripted_container.h"

namespace kube::testing {

struct ApiServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any that is free
  /// Else plain HTTP/1.1. Clients send no credentials of a kubeconfig without TLS, so requests
  /// without any are the admin's then: it listens on loopback addresses only, unless the next says
  /// that it may do so elsewhere.
  bool tls = true;
  bool allowAnonymousAdmin = false;
  bool http2 = true;
  int threads = 2;
  /// Who may come, and do what, beside the admin.
  AccessOptions access = {};
  /// The admin's token; empty: one at random.
  std::string token = {};
  /// CustomResourceDefinitions and other objects to begin with, as YAML.
  std::vector<std::string> manifests = {};
  /// Objects go when all their owners are gone, or never were, as in a cluster with controllers.
  bool garbageCollector = true;
  /// How many changes of each resource can be watched from, and paged through.
  std::size_t historyWindow = 10'000;
  std::chrono::nanoseconds bookmarkPeriod = std::chrono::minutes(1);
  Clock* clock = nullptr;  // null: the real one
};

class ApiServer {
 public:
  /// Throws ConfigError where the address cannot be listened on, and Error for bad manifests.
  explicit ApiServer(ApiServerOptions options = {});
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// https://127.0.0.1:41235
  std::string url() const;
  std::uint16_t port() const;

  /// For the admin, by client certificate.
  Config config() const;
  /// For who has a token; without TLS, a client of it refuses to send that.
  Config config(std::string_view token) const;
  std::string kubeconfig() const;
  std::string kubeconfig(std::string_view token) const;
  const std::string& adminToken() const;
  std::string caPem() const;

  // --- Going wrong on purpose.

  /// From now on. Says which it is, for forget().
  FaultId inject(Fault fault);
  void forget(FaultId id);
  void forgetAll();
  /// What the faults of requests have hit so far.
  std::uint64_t faultsHit() const;

  /// Lets watches under way fail; of all resources, or of one ("pods").
  std::size_t failWatches(WatchFault fault, std::string_view resource = {});
  /// Revisions before now are gone: watches and pages from them are refused with 410.
  void expireRevisions();
  /// Cuts all connections, and drops what was delayed; with `newHistory`, as after a restore from a
  /// backup, revisions start again at a low number and no old one is known.
  void restart(bool newHistory = false);
  /// Stops reading and writing on all connections, present and future, until told otherwise.
  void goSilent(bool silent);

  /// What happens inside pods.
  Containers& containers() noexcept;

  /// Waits until what goes on in the background is done: dependents collected, namespaces emptied,
  /// definitions served.
  void settle() const;
  std::int64_t revision() const;
  HttpServerStats stats() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kube::testing
