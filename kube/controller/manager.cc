#include "kube/controller/manager.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/periodic_task.h"
#include "kube/base/internal/slow_wait.h"
#include "kube/base/internal/threads/own_thread.h"
#include "kube/base/joined.h"
#include "kube/base/task_scope.h"
#include "kube/base/when.h"
#include "kube/controller/internal/manager_pages.h"
#include "kube/controller/internal/process_facts.h"
#include "kube/rest/rest_client.h"

namespace kube {
namespace {

constexpr std::chrono::seconds kServerPatience{2};
constexpr std::chrono::seconds kServerAnswerHolds{1};

ManagerOptions completed(ManagerOptions options, const Config& config) {
  if (options.client.clock == nullptr) options.client.clock = options.clock;
  LeaderElectionOptions& election = options.leaderElection;
  if (election.name.empty()) return options;
  if (election.onStartedLeading || election.leading) {
    throw ConfigError(
        "manager: leaderElection.onStartedLeading must be empty, the manager sets it; add work "
        "with Manager::add()");
  }
  if (election.namespace_.empty()) election.namespace_ = config.namespace_;
  if (election.identity.empty()) election.identity = uniqueIdentity();
  if (election.clock == nullptr) election.clock = options.clock;
  if (election.metrics == nullptr) election.metrics = options.metrics;
  return options;
}

}  // namespace

// Works that stop together: when one of them fails, or when the stop token is triggered.
class Manager::Group {
 public:
  Group(Manager& manager, RunsOn where, const detail::TaskContext& context)
      : manager_(manager),
        where_(where),
        clock_(orReal(manager.options_.clock)),
        tasks_(context.executor, context.stop) {}

  void start() {
    for (Runnable& runnable : manager_.runnables_) {
      if (runnable.where == where_) tasks_.start(run(runnable), runnable.name);
    }
  }
  std::stop_token token() const { return tasks_.stopToken(); }
  void requestStop() { tasks_.requestStop(); }

  // Waits until all works have ended, and throws the first exception of one. After the stop, the
  // log names works that take long to end.
  Task<void> join() {
    std::optional<detail::SlowWait> slow;
    Timer grace;
    const std::stop_callback onStop(token(), [&] {
      manager_.phase_ = Phase::Ending;
      slow.emplace(clock_, [this](Clock::Duration waited) {
        log().warning("stopping: has been waiting {} for {}", detail::inSeconds(waited),
                      manager_.unended(where_));
      });
      try {
        grace = clock_.callAfter(manager_.options_.gracePeriod, [this] { onGraceOver(); });
      } catch (const Error& error) {
        log().error("the end of the grace period will not be noticed: {}", error.what());
      }
    });
    const std::stop_token never;
    co_await detail::underStop(tasks_.join(), never);
    const detail::Lock lock(errorMutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  Task<void> run(Runnable& runnable) {
    const std::string& name = runnable.name;
    runnable.state = WorkState::Running;
    const detail::Finally ended([&runnable] { runnable.state = WorkState::Ended; });
    try {
      co_await manager_.workOf(runnable);
      log().debug("\"{}\" has ended", name);
    } catch (const CanceledError& error) {
      if (!token().stop_requested()) {
        log().error("\"{}\" has failed: {}", name, error.what());
        fail();
      }
    } catch (const std::exception& error) {
      log().error("\"{}\" has failed: {}", name, error.what());
      fail();
    } catch (...) {
      log().error("\"{}\" has thrown an exception that is not a std::exception", name);
      fail();
    }
  }
  void fail() {
    {
      const detail::Lock lock(errorMutex_);
      if (!error_) error_ = std::current_exception();
    }
    requestStop();
  }
  void onGraceOver() const {
    const std::string names = manager_.unended(where_);
    if (names.empty()) return;
    const ManagerOptions& options = manager_.options_;
    log().error("the grace period of {} is over, and these have not ended: {}",
                detail::inSeconds(options.gracePeriod), names);
    if (options.onGraceOver) options.onGraceOver();
  }
  const Logger& log() const { return manager_.log_; }

  Manager& manager_;
  const RunsOn where_;
  Clock& clock_;
  detail::Mutex errorMutex_;
  std::exception_ptr error_ KUBE_GUARDED_BY(errorMutex_);
  TaskScope tasks_;  // uses the members above
};

Manager::Manager(const Config& config, ManagerOptions options)
    : clients_(config),
      leaderClients_(clients_.rest().withWriteGuard([this] { return whyNotToWrite(); })),
      options_(completed(std::move(options), config)),
      log_("manager"),
      informers_(clients_, options_.informers),
      client_(leaderClients_, informers_, options_.client) {
  if (!options_.leaderElection.name.empty()) {
    LeaderElectionOptions election = options_.leaderElection;
    election.leading = [this] { return workAsLeader(); };
    elector_ = std::make_unique<LeaderElector>(clients_.rest(), std::move(election));
    health_.add("leaderElection", [this] { elector_->check(); });
  }
  ready_.add("informers", [this] {
    if (!synced_) throw Error("the informers have not synced yet");
  });
  if (options_.readyNeedsServer) {
    Clock& clock = orReal(options_.clock);
    ready_.add("apiserver", keptFor(kServerAnswerHolds, clock, [this] { checkServer(); }));
  }
  pages_ = std::make_unique<detail::ManagerPages>(
      detail::ManagerPagesOptions{.http = options_.http,
                                  .metricsHttp = options_.metricsHttp,
                                  .readers = options_.metricsReaders,
                                  .metrics = [this] { return this->metrics().text(); },
                                  .debug = options_.debugPage ? [this] { return debugText(); }
                                                              : std::function<std::string()>()},
      clients_.rest(), health_, ready_);
}
Manager::~Manager() = default;

Controller<Unstructured>& Manager::controller(std::string name, const RestMapping& mapping,
                                              RunsOn where) {
  return keep<Unstructured, ObjectKey>(std::move(name), where, informers_, mapping);
}

void Manager::addWork(std::string name, std::function<void(const std::stop_token&)> work,
                      std::function<Task<void>()> task, RunsOn where) {
  runnables_.emplace_back(std::move(name), std::move(work), std::move(task), where, nullptr);
}

Cluster& Manager::addCluster(std::string name, const Config& config,
                             InformerFactoryOptions informers) {
  if (std::ranges::find(clusters_, name, [](const auto& one) { return one->name(); }) !=
      clusters_.end()) {
    throw Error(fmt::format("manager: a cluster \"{}\" exists already", name));
  }
  return *clusters_.emplace_back(
      std::make_unique<Cluster>(std::move(name), config, std::move(informers)));
}

EventRecorder& Manager::events(std::string_view component) {
  const detail::Lock lock(eventsMutex_);
  const auto found = events_.find(component);
  if (found != events_.end()) return *found->second;
  auto recorder = std::make_unique<EventRecorder>(
      clients_.rest(), EventRecorderOptions{.component = std::string(component),
                                            .clock = options_.clock,
                                            .metrics = options_.metrics});
  return *events_.emplace(component, std::move(recorder)).first->second;
}

void Manager::addHealthCheck(std::string name, HealthCheck check) {
  health_.add(std::move(name), std::move(check));
}
void Manager::addReadyCheck(std::string name, HealthCheck check) {
  ready_.add(std::move(name), std::move(check));
}

Metrics& Manager::metrics() const noexcept { return orDefault(options_.metrics); }
void Manager::expectNew(const std::string& controller) const {
  for (const auto& other : controllers_) {
    if (other->name() != controller) continue;
    throw Error(
        fmt::format("manager: a controller \"{}\" exists already: controllers with the same name "
                    "would share metrics and log",
                    controller));
  }
}

std::string Manager::whyNotToWrite() const {
  if (isLeader()) return {};
  const LeaderElectionOptions& election = options_.leaderElection;
  return fmt::format(
      "this copy (\"{}\") does not lead, or has not been able to renew the lease {}/{} "
      "for {}",
      election.identity, election.namespace_, election.name,
      detail::inSeconds(election.renewDeadline));
}

std::optional<FencingToken> Manager::fencingToken() const {
  return elector_ ? elector_->fencingToken() : std::nullopt;
}

bool Manager::isLeader() const { return !elector_ || elector_->isLeader(); }
std::string Manager::url() const { return pages_->healthUrl(); }
// The manager may still be set up when the page is asked for.
std::string Manager::debugText() const {
  return (ran_ ? describe() : "manager: not started\n") + detail::describeProcess();
}
std::string Manager::metricsUrl() const { return pages_->otherUrl(); }
void Manager::addPage(std::string path, HttpHandler handler) {
  pages_->add(std::move(path), std::move(handler));
}

// Any answer of a working server counts, also the refusal of this request.
void Manager::checkServer() const {
  try {
    clients_.rest().get().absPath("/readyz").timeout(kServerPatience).raw();
  } catch (const ApiError& error) {
    if (error.status().code >= 500) throw;
  }
}

// A blocking run() gives each work a thread of its own, also one that is a coroutine.
Task<void> Manager::workOf(const Runnable& runnable) const {
  if (runnable.task && !blocks_) return runnable.task();
  return detail::onOwnThread("\"" + runnable.name + "\" of a manager", runnable.work);
}

void Manager::run(const std::stop_token& stop) { blockOn(runTask(true), stop); }
AsyncManager Manager::async() noexcept { return AsyncManager(*this); }
Task<void> AsyncManager::run() const { return manager_->runTask(false); }

Task<void> Manager::runTask(bool blocks) {
  if (ran_.exchange(true)) throw Error("manager: run() may be called only once");
  blocks_ = blocks;
  const detail::Finally ending([this] {
    shutDownInformers();
    phase_ = Phase::Ended;
  });
  std::exception_ptr failure;
  try {
    co_await work();
  } catch (...) {
    failure = std::current_exception();
  }
  phase_ = Phase::Ending;
  const std::stop_token never;
  co_await detail::underStop(endEvents(), never);
  co_await detail::underStop(endInformers(), never);
  if (failure) std::rethrow_exception(failure);
}

// Each recorder limits the time.
Task<void> Manager::endEvents() {
  std::vector<Task<void>> ends;
  {
    const detail::Lock lock(eventsMutex_);
    for (const auto& [component, recorder] : events_) ends.push_back(recorder->async().shutDown());
  }
  co_await whenAll(std::move(ends));
}

// Handlers may take time to return.
Task<void> Manager::endInformers() {
  return detail::onOwnThread("the end of a manager's informers",
                             [this](const std::stop_token&) { shutDownInformers(); });
}
void Manager::shutDownInformers() {
  for (const auto& cluster : clusters_) cluster->informers().shutdown();
  informers_.shutdown();
}

std::vector<std::string> Manager::notSynced() const {
  std::vector<std::string> lines = informers_.notSynced();
  for (const auto& cluster : clusters_) {
    for (const std::string& line : cluster->informers().notSynced()) {
      lines.push_back(fmt::format("cluster \"{}\": {}", cluster->name(), line));
    }
  }
  return lines;
}

Task<bool> Manager::waitForCaches() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  std::stop_source late;
  Timer timer;
  if (options_.cacheSyncTimeout.count() > 0) {
    timer = orReal(options_.clock).callAfter(options_.cacheSyncTimeout, [late]() mutable {
      late.request_stop();
    });
  }
  std::vector<const SharedInformerFactory*> factories{&informers_};
  for (const auto& cluster : clusters_) factories.push_back(&cluster->informers());
  for (const SharedInformerFactory* factory : factories) {
    const bool synced = co_await withStop(factory->async().waitForSync(), late.get_token());
    if (synced) continue;
    if (!late.stop_requested() || context.stop.stop_requested()) co_return false;
    throw TimeoutError(fmt::format("manager: informers have not synced in {}: {}",
                                   detail::inSeconds(options_.cacheSyncTimeout),
                                   joined(notSynced(), "; ")));
  }
  co_return true;
}

std::string Manager::unended(RunsOn where) const {
  std::vector<std::string> names;
  for (const Runnable& runnable : runnables_) {
    if (runnable.where != where || runnable.state != WorkState::Running) continue;
    names.push_back("\"" + runnable.name + "\"");
    if (runnable.controller != nullptr) {
      names.back() += fmt::format(" ({})", runnable.controller->describe());
    }
  }
  return joined(names, ", ");
}

std::string Manager::describe() const {
  static constexpr std::array kPhases = {"not started", "waiting for informers", "working",
                                         "ending", "ended"};
  static constexpr std::array kStates = {"not started", "running", "ended"};
  std::string text = fmt::format("manager: {}", kPhases[static_cast<std::size_t>(phase_.load())]);
  if (elector_) {
    text += isLeader() ? ", leading" : fmt::format(", the leader is \"{}\"", elector_->leader());
  }
  text += '\n';
  for (const Runnable& runnable : runnables_) {
    text +=
        runnable.controller != nullptr
            ? fmt::format("controller \"{}\": {}", runnable.name, runnable.controller->describe())
            : fmt::format("work \"{}\": {}", runnable.name,
                          kStates[static_cast<std::size_t>(runnable.state.load())]);
    text += '\n';
  }
  text += "informers:\n" + informers_.describe();
  for (const auto& cluster : clusters_) {
    text += fmt::format("informers of cluster \"{}\":\n{}", cluster->name(),
                        cluster->informers().describe());
  }
  return text;
}

Task<void> Manager::work() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  phase_ = Phase::Syncing;
  informers_.start();
  for (const auto& cluster : clusters_) cluster->informers().start();
  log_.info("waiting for caches");
  const bool synced = co_await waitForCaches();
  if (!synced) co_return;
  synced_ = true;
  phase_ = Phase::Working;

  Group everywhere(*this, RunsOn::Every, context);
  everywhere.start();
  std::exception_ptr failure;
  try {
    // A name of its own: g++ 12 destroys the operands of a conditional expression twice.
    Task<void> leading = elector_ ? campaign() : workAsLeader();
    co_await withStop(std::move(leading), everywhere.token());
  } catch (...) {
    failure = std::current_exception();
    everywhere.requestStop();
  }
  try {
    co_await everywhere.join();
  } catch (...) {
    if (!failure) failure = std::current_exception();
  }
  if (failure) std::rethrow_exception(failure);
}

Task<void> Manager::workAsLeader() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  working_ = true;
  const detail::Finally ending([this] { working_ = false; });
  Group group(*this, RunsOn::Leader, context);
  group.start();
  co_await group.join();
}

Task<void> Manager::campaign() {
  const LeaderElectionOptions& election = options_.leaderElection;
  // The work may use half of the time between renewDeadline and leaseDuration to end; the other
  // half is left for the watchdog to end the process.
  const auto look = (election.leaseDuration - election.renewDeadline) / 4;
  const PeriodicTask watchdog(orReal(election.clock), look, [this, look] {
    if (!working_) return;
    try {
      elector_->check(-2 * look);
    } catch (const Error&) {
      log_.error("the lease is lost, and the work has not ended: another copy may start");
      if (options_.onOverrun) return options_.onOverrun();
      _exit(1);
    }
  });
  const bool kept = co_await elector_->async().run();
  if (kept) co_return;
  throw Error(fmt::format("manager: the lease {}/{} is lost", election.namespace_, election.name));
}

}  // namespace kube
