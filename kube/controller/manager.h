// The main part of an operator: runs controllers and other work together, on the leader among its
// copies, and serves health and metrics to Kubernetes.
//
//   kube::Manager manager(kube::Config::load(), {
//       .leaderElection = {.name = "network-controller", .releaseOnCancel = true},
//       .http = kube::HttpServerOptions{.address = "0.0.0.0", .port = 8080}});
//   manager.controller<samplev1::Network>("networks")
//       .owns<kube::corev1::ConfigMap>()
//       .workers(2)
//       .reconcile([&](const kube::ObjectKey& key) -> kube::Requeue { ... });
//   manager.add("certificates", [](std::stop_token stop) { kube::until(1h, stop, renew); });
//   manager.run(kube::signalStop());            // then main() returns
//
// Starting: HTTP is first; then the informers, until all have synced; then the work of every copy;
// then, once this copy leads, the controllers. Stopping has the opposite order: the work ends, the
// lease is released if `releaseOnCancel` says so, the informers end, and HTTP is last.
//
// Stopping waits for all work, since a thread cannot be ended from outside: work that does not look
// at its stop token delays it. After some seconds the log names such work, and the object that a
// controller reconciles. After `gracePeriod` the log has an error, and `onGraceOver` is called. The
// lease is kept until the work has ended, so that no other copy works at the same time, and
// Kubernetes ends the process when the pod's terminationGracePeriodSeconds are over.
//
// Leading: without leaderElection.name there is no election, and this copy works. With it, no two
// copies work at the same time:
// - The work is asked to end (by the stop token) when `renewDeadline` has passed since the lease
//   was last renewed. Other copies wait until `leaseDuration` has passed.
// - If the work has not ended after half of the time in between, because some of it does not look
//   at its token, the process is ended at once, with exit status 1: see `onOverrun`.
// - A process that was suspended for longer than its lease (SIGSTOP, a hypervisor) has no time for
//   either, and continues for a moment where it was: no lease can exclude that. Write through
//   leaderClients(), which read the clock before each write and refuse it if this copy does not
//   lead, or use a fencing token; see leader_election.h.
// - Otherwise run() ends in order and throws. If main() fails then, Kubernetes starts the program
//   again, with new caches; a program that wants to continue calls run() of a new Manager.
//
// HTTP: /healthz is for a livenessProbe: it fails if the work outlives its lease. /readyz is for a
// readinessProbe: it passes when the informers have synced and, with `readyNeedsServer`, the API
// server answers. See HealthChecks. /metrics is for Prometheus. Every client that reaches the
// address may read all three, and can do no more: requests have no bodies, and use little memory,
// few descriptors and little time. The options of `http` may set lower limits than those of
// docs/operating.md, but no higher ones.
//
// An API server that is away for a while does not end the manager: informers and workers continue
// where they were, unless a lease is lost meanwhile.
//
// Thread safety: one thread sets the manager up before run(), and run() is called once. isLeader()
// and url() may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/metrics.h"
#include "kube/base/task_threads.h"
#include "kube/cache/cached_client.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/clientset.h"
#include "kube/controller/controller.h"
#include "kube/controller/health.h"
#include "kube/controller/leader_election.h"
#include "kube/http/http_server.h"
#include "kube/rest/config.h"

namespace kube {

struct ManagerOptions {
  /// Without a name there is no election. The default namespace is that of the configuration, the
  /// default identity a unique one. onStartedLeading must be empty: the manager sets it.
  LeaderElectionOptions leaderElection = {};
  InformerFactoryOptions informers = {};
  /// How client() reads.
  CachedClientOptions client = {};
  /// Serves health and metrics; none: they are not served.
  std::optional<HttpServerOptions> http = {};
  /// Lets /readyz fail while the API server does not answer. The server is asked at most once a
  /// second.
  bool readyNeedsServer = false;
  /// Called instead of ending the process when its work outlives the lease. It must make sure that
  /// the work does not continue.
  std::function<void()> onOverrun = {};
  /// The time that work may take to end after a stop, before that is logged as an error.
  std::chrono::nanoseconds gracePeriod = std::chrono::seconds{30};
  /// Called then, by a thread that it must not block. It may end the process, for example with
  /// _exit(1), if nothing else does; unfinished work then stays unfinished. None: run() continues
  /// to wait.
  std::function<void()> onGraceOver = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
};

/// The copies that run a piece of work.
enum class RunsOn : std::uint8_t { Leader, Every };

class Manager {
 public:
  /// Throws ConfigError for invalid options, and if the manager cannot listen on the address.
  explicit Manager(const Config& config, ManagerOptions options = {});
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // ---- Setting up.

  /// Adds a controller. This and the next overload throw Error if a controller with that name
  /// exists: the two would share metrics and log.
  template <NamedObject T>
  Controller<T>& controller(std::string name) {
    return keep(std::make_unique<Controller<T>>(std::move(name), informers_, controllerOptions()));
  }
  /// For a kind that is known by its name only.
  Controller<Unstructured>& controller(std::string name, const RestMapping& mapping);
  /// Adds other work, which runs until it is asked to stop. It may return before. If it throws,
  /// everything is stopped and run() throws the same exception.
  void add(std::string name, std::function<void(std::stop_token stop)> work,
           RunsOn where = RunsOn::Leader);

  void addHealthCheck(std::string name, HealthCheck check);
  void addReadyCheck(std::string name, HealthCheck check);

  // ---- Shared parts.

  /// Reads from the caches of informers(), writes to the server as leaderClients(), and reads its
  /// own writes. Before run(), it reads from the server. For work that runs on every copy,
  /// `client().by(clients())` writes without a lease.
  const CachedClient& client() const noexcept { return client_; }
  /// Every call asks the server.
  const Clientset& clients() const noexcept { return clients_; }
  /// The same clients for the work of the leader: a write throws Error and sends nothing if, by the
  /// clock right before sending, this copy does not lead. Without an election, the same as
  /// clients(). Must not be used after the manager is gone.
  const Clientset& leaderClients() const noexcept { return leaderClients_; }
  SharedInformerFactory& informers() noexcept { return informers_; }
  Metrics& metrics() const noexcept;
  /// The identity in the election; empty without an election.
  const String& identity() const noexcept { return options_.leaderElection.identity; }

  // ---- Running.

  /// Runs until a stop is requested, or a failure that cannot be retried: then throws its
  /// exception, after everything has ended in order. A lost lease is an Error.
  void run(const std::stop_token& stop);

  /// Returns whether this copy may work now; always true without an election.
  bool isLeader() const;
  /// The token of the current term; none while this copy does not lead, and without an election.
  std::optional<FencingToken> fencingToken() const;
  /// The address of health and metrics; empty if they are not served.
  std::string url() const;

 private:
  class Group;
  struct Runnable {
    std::string name;
    std::function<void(std::stop_token)> work;
    RunsOn where;
  };

  template <class T>
  Controller<T>& keep(std::unique_ptr<Controller<T>> controller) {
    Controller<T>& kept = *controller;
    expectNew(kept.name());
    add(kept.name(), [&kept](const std::stop_token& stop) { kept.run(stop); });
    controllers_.push_back(std::move(controller));
    return kept;
  }
  ControllerOptions controllerOptions() const {
    return {.clock = options_.clock, .metrics = options_.metrics};
  }

  void expectNew(const std::string& controller) const;
  std::string whyNotToWrite() const;
  void serve(ServerRequest request, const Responder& responder);
  void start(Group& group, RunsOn where) const;
  void runAsLeader(const std::stop_token& stop);
  void campaign(const std::stop_token& stop);
  void checkServer() const;

  const Clientset clients_;
  const Clientset leaderClients_;
  const ManagerOptions options_;
  const Logger log_;
  HealthChecks health_{"healthz"};
  HealthChecks ready_{"readyz"};
  SharedInformerFactory informers_;
  const CachedClient client_;
  std::vector<std::unique_ptr<detail::ControllerBase>> controllers_;
  std::vector<Runnable> runnables_;
  std::unique_ptr<LeaderElector> elector_;  // null without an election
  std::atomic<bool> synced_ = false;
  std::atomic<bool> ran_ = false;
  std::atomic<bool> working_ = false;
  std::unique_ptr<AnswerQueue> healthAnswers_, readyAnswers_, pages_;  // for HTTP
  TaskThreads checkThreads_;
  std::unique_ptr<HttpServer> http_;  // uses the members above, so it is destroyed first
};

}  // namespace kube
