// The main part of an operator: controllers and what else it does, run together, by the leader
// among its copies, with health and metrics for Kubernetes to ask for.
//
//   kube::Manager manager(kube::Config::load(), {
//       .leaderElection = {.name = "network-controller", .releaseOnCancel = true},
//       .http = kube::HttpServerOptions{.address = "0.0.0.0", .port = 8080}});
//   manager.controller<samplev1::Network>("networks")
//       .owns<kube::corev1::ConfigMap>()
//       .workers(2)
//       .reconcile([&](const kube::ObjectKey& key) -> kube::Requeue { ... });
//   manager.add("certificates", [](std::stop_token stop) { kube::until(1h, stop, renew); });
//   manager.run(kube::signalStop());            // and main() returns
//
// Starting: HTTP first; then the informers, until all have synced; then what every copy does; then,
// once this one leads, the controllers. Stopping is the other way round: the work ends, the lease
// is given up if `releaseOnCancel` says so, the informers end, and HTTP is the last.
//
// Stopping waits for all work, since a thread cannot be ended from outside: what does not look at
// its stop token holds it up. After some seconds that is logged, with the name of the work, and of
// a controller with the object; after `gracePeriod` as an error, and `onGraceOver` is called. The
// lease is kept until then, so that no other copy works beside it, and Kubernetes ends the process
// when the pod's terminationGracePeriodSeconds are over.
//
// Leading: without leaderElection.name there is no election, and this copy works. With it, two
// copies do not work at a time:
// - Its work is asked to end (by the stop token) when `renewDeadline` has passed since the lease
//   was last renewed. Others wait until `leaseDuration` has.
// - If it has not ended when half of the time in between is over, since something does not look at
//   its token, the process is ended at once, with exit status 1: see `onOverrun`.
// - A process that was held up for longer than its lease (SIGSTOP, a hypervisor) has no time for
//   either, and goes on for a moment where it was: no lease can exclude that. Write by
//   leaderClients(), which look at the clock before each write and refuse it when this copy does
//   not lead, or use a fencing token; see leader_election.h.
// - Otherwise run() throws, in order. A program that lets its main() fail is started anew by
//   Kubernetes, with fresh caches; one that wants to go on calls it again with a new Manager.
//
// HTTP: /healthz says that the process is well, for a livenessProbe: it fails if the work outlives
// its lease. /readyz says that it can do its work, for a readinessProbe: that the informers have
// synced and, with `readyNeedsServer`, that the API server answers. See HealthChecks. /metrics is
// for Prometheus. Whoever reaches the address may read all three, and can do no more: requests have
// no bodies, and what they take of memory, descriptors and time is little. The options of `http`
// may set limits that are less than those of docs/operating.md, not more.
//
// The API server gone for a while is no reason to end: informers and workers go on where they were,
// unless a lease is lost by it.
//
// Thread safety: it is set up by one thread before run(), and run() is called once. isLeader() and
// url() may be called from any.
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
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/clientset.h"
#include "kube/controller/controller.h"
#include "kube/controller/health.h"
#include "kube/controller/leader_election.h"
#include "kube/http/http_server.h"
#include "kube/rest/config.h"

namespace kube {

struct ManagerOptions {
  /// No name: no election. Without a namespace the lease is in the configuration's, without an
  /// identity that is a unique one. onStartedLeading is the manager's own.
  LeaderElectionOptions leaderElection = {};
  InformerFactoryOptions informers = {};
  /// Where health and metrics are served; none: nowhere.
  std::optional<HttpServerOptions> http = {};
  /// Whether /readyz fails while the API server does not answer. It is asked at most once a second.
  bool readyNeedsServer = false;
  /// Instead of ending the process when its work outlives the lease. Whatever it does, the work
  /// must not go on.
  std::function<void()> onOverrun = {};
  /// How long work may take to end when it is asked to, before that is logged as an error.
  std::chrono::nanoseconds gracePeriod = std::chrono::seconds{30};
  /// Called then, by a thread that must not be held up: to end the process, for one, where nobody
  /// else does (_exit(1)). What it leaves half done stays so. None: run() waits on.
  std::function<void()> onGraceOver = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
};

/// Which copies do something.
enum class RunsOn : std::uint8_t { Leader, Every };

class Manager {
 public:
  /// Throws ConfigError for options that make no sense, and where the address cannot be listened
  /// on.
  explicit Manager(const Config& config, ManagerOptions options = {});
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // ---- Setting up.

  /// Throws Error where there is one of that name, as for what follows: they would share metrics
  /// and log.
  template <NamedObject T>
  Controller<T>& controller(std::string name) {
    return keep(std::make_unique<Controller<T>>(std::move(name), informers_, controllerOptions()));
  }
  /// Of a kind that is known by its name only.
  Controller<Unstructured>& controller(std::string name, const RestMapping& mapping);
  /// Anything else that runs until it is asked to stop. It may return before; if it throws, all is
  /// stopped, and run() throws the same.
  void add(std::string name, std::function<void(std::stop_token stop)> work,
           RunsOn where = RunsOn::Leader);

  void addHealthCheck(std::string name, HealthCheck check);
  void addReadyCheck(std::string name, HealthCheck check);

  // ---- What all share.

  const Clientset& clients() const noexcept { return clients_; }
  /// The same, for the work of the leader: what writes throws Error and sends nothing when this
  /// copy does not lead, by the clock and right before it would be sent. Without an election, the
  /// same as clients(). Not to be used when the manager is gone.
  const Clientset& leaderClients() const noexcept { return leaderClients_; }
  SharedInformerFactory& informers() noexcept { return informers_; }
  Metrics& metrics() const noexcept;
  /// Of the election; empty without.
  const String& identity() const noexcept { return options_.leaderElection.identity; }

  // ---- Running.

  /// Until a stop is requested, or something goes wrong for good: then it throws that, when
  /// everything has ended in order. A lost lease is an Error.
  void run(const std::stop_token& stop);

  /// Whether this copy may work now; always, without an election.
  bool isLeader() const;
  /// Of the term in which it leads; none when it does not, and without an election.
  std::optional<FencingToken> fencingToken() const;
  /// Where health and metrics are; empty: nowhere.
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
  std::vector<std::unique_ptr<detail::ControllerBase>> controllers_;
  std::vector<Runnable> runnables_;
  std::unique_ptr<LeaderElector> elector_;  // null without an election
  std::atomic<bool> synced_ = false;
  std::atomic<bool> ran_ = false;
  std::atomic<bool> working_ = false;
  std::unique_ptr<AnswerQueue> healthAnswers_, readyAnswers_, pages_;  // of HTTP
  TaskThreads checkThreads_;
  std::unique_ptr<HttpServer> http_;  // asks all of the above, so it is the first to go
};

}  // namespace kube
