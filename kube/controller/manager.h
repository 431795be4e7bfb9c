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
// `co_await manager.async().run()` does the same on an executor of the program, without a thread
// that waits: coroutines of controllers and of other work run there.
//
// Starting: HTTP is first; then the informers, until all have synced; then the work of every copy;
// then, once this copy leads, the controllers. Stopping has the opposite order: the work ends, the
// lease is released if `releaseOnCancel` says so, the events that are left are sent, the informers
// end, and HTTP is last.
//
// Stopping waits for all work, since a thread cannot be ended from outside: work that does not look
// at its stop token delays it. After some seconds the log names such work, and the object that a
// controller reconciles; so does describe(). After `gracePeriod` the log has an error, and
// `onGraceOver` is called. The
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
// server answers. See HealthChecks. /metrics is for Prometheus; `debugPage` and addPage() add more.
// Every client that reaches the address may read all of these unless `metricsReaders` is set, and
// can do no more: requests have no bodies, and use little memory, few descriptors and little time.
// The options of `http` and `metricsHttp` may set lower limits than those of docs/operating.md, but
// no higher ones.
//
// An API server that is away for a while does not end the manager: informers and workers continue
// where they were, unless a lease is lost meanwhile.
//
// Thread safety: one thread sets the manager up before run(), and run() is called once. isLeader()
// and url() may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/metrics.h"
#include "kube/base/task.h"
#include "kube/cache/cached_client.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/clientset.h"
#include "kube/controller/access_reviews.h"
#include "kube/controller/cluster.h"
#include "kube/controller/controller.h"
#include "kube/controller/event_recorder.h"
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
  /// Serves health, metrics and other pages; none: they are not served.
  std::optional<HttpServerOptions> http = {};
  /// Serves all pages but health on a port of their own, mostly with TLS.
  std::optional<HttpServerOptions> metricsHttp = {};
  /// Lets only permitted readers read these pages; see AccessReviews. Needs TLS.
  std::optional<AccessReviewOptions> metricsReaders = {};
  /// Serves /debug: describe(), and the memory, threads and descriptors of the process.
  bool debugPage = false;
  /// Lets /readyz fail while the API server does not answer. The server is asked at most once a
  /// second.
  bool readyNeedsServer = false;
  /// Called instead of ending the process when its work outlives the lease. It must make sure that
  /// the work does not continue.
  std::function<void()> onOverrun = {};
  /// The time that the informers have to sync. After it, run() throws a TimeoutError that names
  /// those that have not, and why. 0: no limit.
  std::chrono::nanoseconds cacheSyncTimeout = std::chrono::minutes{2};
  /// Limits each call of the reconcile functions of all controllers: see
  /// Controller::reconcileTimeout(), which overrides it. 0: no limit.
  std::chrono::nanoseconds reconcileTimeout = {};
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

namespace detail {
class ManagerPages;
}

class Manager;

class AsyncManager {
 public:
  explicit AsyncManager(Manager& manager) noexcept : manager_(&manager) {}

  /// As Manager::run(), with the stop token of the tree. Work that is a coroutine, and so the
  /// reconcile functions of controllers without an executor of their own, runs on the executor of
  /// the tree; other work has threads. The manager outlives the task. Destroying the task gives up
  /// coroutines, and waits for all other work and for handlers; the lease is left to expire.
  Task<void> run() const;

 private:
  Manager* manager_;
};

class Manager {
 public:
  /// Throws ConfigError for invalid options, and if the manager cannot listen on the address.
  explicit Manager(const Config& config, ManagerOptions options = {});
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // ---- Setting up.

  /// Adds a controller. It and the next overloads throw Error if a controller with that name
  /// exists: the two would share metrics and log.
  template <NamedObject T, ControllerKey Key = ObjectKey>
  Controller<T, Key>& controller(std::string name, RunsOn where = RunsOn::Leader) {
    return keep<T, Key>(std::move(name), where, informers_);
  }
  /// For a kind that is known by its name only, or of which only the metadata matter: T is
  /// Unstructured or PartialObjectMetadata.
  template <Cacheable T>
  Controller<T>& controller(std::string name, const RestMapping& mapping,
                            RunsOn where = RunsOn::Leader) {
    return keep<T, ObjectKey>(std::move(name), where, informers_, mapping);
  }
  Controller<Unstructured>& controller(std::string name, const RestMapping& mapping,
                                       RunsOn where = RunsOn::Leader);
  /// For objects of another cluster.
  template <NamedObject T, ControllerKey Key = ObjectKey>
  Controller<T, Key>& controller(std::string name, const Cluster& cluster,
                                 RunsOn where = RunsOn::Leader) {
    return keep<T, Key>(std::move(name), where, cluster.informers());
  }
  /// Adds another cluster, with informers of its own. The name appears in errors. Throws Error if
  /// there is a cluster with that name.
  Cluster& addCluster(std::string name, const Config& config,
                      InformerFactoryOptions informers = {});
  /// Adds other work, which runs until it is asked to stop. It may return before. If it throws,
  /// everything is stopped and run() throws the same exception; a CanceledError after a stop is no
  /// failure. The function takes a stop token, or nothing. It blocks its own thread, or it is a
  /// coroutine that returns a Task<void>: it has a thread of its own as well if run() blocks.
  template <class Work>
  requires std::invocable<Work&, std::stop_token> || std::invocable<Work&>
  void add(std::string name, Work work, RunsOn where = RunsOn::Leader) {
    auto call = [work = std::move(work)](const std::stop_token& stop) mutable {
      if constexpr (std::invocable<Work&, std::stop_token>) {
        return work(stop);
      } else {
        return work();
      }
    };
    if constexpr (std::same_as<decltype(call({})), Task<void>>) {
      const auto shared = std::make_shared<decltype(call)>(std::move(call));
      addWork(
          std::move(name), [shared](const auto& stop) { blockOn((*shared)(stop), stop); },
          [shared] { return underStopOf(*shared); }, where);
    } else {
      addWork(std::move(name), std::move(call), {}, where);
    }
  }

  void addHealthCheck(std::string name, HealthCheck check);
  void addReadyCheck(std::string name, HealthCheck check);
  /// Adds a page of the program beside /metrics, for the same readers. A path that ends with a
  /// slash stands for all paths below it as well. The handler must not block. Throws Error if the
  /// path is taken. May be called from any thread.
  void addPage(std::string path, HttpHandler handler);

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
  /// The recorder of events by this component, which is made at the first call and belongs to the
  /// manager: run() sends what is left when all work has ended. May be called from any thread.
  EventRecorder& events(std::string_view component);
  Metrics& metrics() const noexcept;
  /// The identity in the election; empty without an election.
  const String& identity() const noexcept { return options_.leaderElection.identity; }

  // ---- Running.

  /// Runs until a stop is requested, or a failure that cannot be retried: then throws its
  /// exception, after everything has ended in order. A lost lease is an Error.
  void run(const std::stop_token& stop);
  AsyncManager async() noexcept;

  /// Returns whether this copy may work now; always true without an election.
  bool isLeader() const;
  /// The token of the current term; none while this copy does not lead, and without an election.
  std::optional<FencingToken> fencingToken() const;
  /// The state of the manager, its work, its controllers and its informers, for people: names what
  /// a start or a stop waits for. May be called from any thread once run() was called.
  std::string describe() const;
  /// The address of health; empty if it is not served.
  std::string url() const;
  /// The address of metrics and other pages; empty if they are not served.
  std::string metricsUrl() const;

 private:
  friend class AsyncManager;
  class Group;
  enum class WorkState : std::uint8_t { NotStarted, Running, Ended };
  enum class Phase : std::uint8_t { New, Syncing, Working, Ending, Ended };
  struct Runnable {
    std::string name;
    std::function<void(const std::stop_token&)> work;
    std::function<Task<void>()> task;  // the same without a thread; none if it needs one
    RunsOn where;
    const detail::ControllerBase* controller;  // null for other work
    std::atomic<WorkState> state = WorkState::NotStarted;

    Runnable(std::string title, std::function<void(const std::stop_token&)> function,
             std::function<Task<void>()> coroutine, RunsOn copies,
             const detail::ControllerBase* base)
        : name(std::move(title)),
          work(std::move(function)),
          task(std::move(coroutine)),
          where(copies),
          controller(base) {}
  };

  /// Calls a function that returns a task with the stop token of the tree.
  template <class Call>
  static Task<void> underStopOf(Call& call) {
    const std::stop_token stop = co_await taskStop();
    co_await call(stop);
  }

  template <class T, class Key, class... Args>
  Controller<T, Key>& keep(std::string name, RunsOn where, const SharedInformerFactory& informers,
                           const Args&... args) {
    expectNew(name);
    auto controller = std::make_unique<Controller<T, Key>>(std::move(name), informers, args...,
                                                           controllerOptions<Key>());
    Controller<T, Key>& kept = *controller;
    kept.reconcileTimeout(options_.reconcileTimeout).syncTimeout(options_.cacheSyncTimeout);
    controllers_.push_back(std::move(controller));
    runnables_.emplace_back(
        kept.name(), [&kept](const std::stop_token& stop) { kept.run(stop); },
        [&kept] { return kept.async().run(); }, where, &kept);
    return kept;
  }
  template <ControllerKey Key>
  ControllerOptionsFor<Key> controllerOptions() const {
    return {.clock = options_.clock,
            .metrics = options_.metrics,
            .tracer = clients_.rest().config().tracer};
  }

  void expectNew(const std::string& controller) const;
  std::string whyNotToWrite() const;
  void addWork(std::string name, std::function<void(const std::stop_token&)> work,
               std::function<Task<void>()> task, RunsOn where);
  Task<void> workOf(const Runnable& runnable) const;
  Task<void> runTask(bool blocks);
  Task<void> work();
  Task<void> workAsLeader();
  Task<void> campaign();
  Task<bool> waitForCaches();
  Task<void> endEvents();
  Task<void> endInformers();
  void shutDownInformers();
  std::vector<std::string> notSynced() const;
  std::string unended(RunsOn where) const;
  std::string debugText() const;
  void checkServer() const;

  const Clientset clients_;
  const Clientset leaderClients_;
  const ManagerOptions options_;
  const Logger log_;
  HealthChecks health_{"healthz"};
  HealthChecks ready_{"readyz"};
  SharedInformerFactory informers_;
  const CachedClient client_;
  // Used by controllers.
  std::vector<std::unique_ptr<Cluster>> clusters_;
  std::vector<std::unique_ptr<detail::ControllerBase>> controllers_;
  std::deque<Runnable> runnables_;
  mutable detail::Mutex eventsMutex_;
  std::map<std::string, std::unique_ptr<EventRecorder>, std::less<>> events_
      KUBE_GUARDED_BY(eventsMutex_);
  std::unique_ptr<LeaderElector> elector_;  // null without an election
  std::atomic<Phase> phase_ = Phase::New;
  std::atomic<bool> synced_ = false;
  std::atomic<bool> ran_ = false;
  std::atomic<bool> working_ = false;
  bool blocks_ = false;  // run() was called, not its awaitable form
  // Uses the members above, so it is destroyed first.
  std::unique_ptr<detail::ManagerPages> pages_;
};

}  // namespace kube
