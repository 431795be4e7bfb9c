#include "kube/controller/manager.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <thread>
#include <type_traits>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/periodic_task.h"
#include "kube/base/internal/slow_wait.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/joined.h"
#include "kube/http/internal/descriptor.h"
#include "kube/rest/rest_client.h"

namespace kube {
namespace {

constexpr std::chrono::seconds kServerPatience{2};
constexpr std::chrono::seconds kServerAnswerHolds{1};
constexpr std::size_t kChecksAtOnce = 4;

// Probes and scrapes are few and small, so more than that is refused. HTTP gets a quarter of the
// file descriptors at most; the rest is for the program.
HttpServerOptions limited(HttpServerOptions http) {
  const auto atMost = [](auto& limit, auto most) {
    limit = std::min(limit, static_cast<std::remove_reference_t<decltype(limit)>>(most));
  };
  atMost(http.maxHeaderBytes, 16 << 10);
  atMost(http.maxBodyBytes, 0);
  atMost(http.maxConcurrentStreams, 20);
  atMost(http.maxConnections, std::min<std::size_t>(detail::mostDescriptors() / 4, 256));
  atMost(http.maxUnfinishedBytes, 4 << 20);
  atMost(http.maxUnsentBytes, 16 << 20);
  for (auto* time : {&http.handshakeTime, &http.headTime, &http.bodyTime, &http.sendTime}) {
    atMost(*time, std::chrono::seconds(10));
  }
  return http;
}

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

// Threads of runnables that stop together: when one of them fails, or when the stop token is
// triggered.
class Manager::Group {
 public:
  Group(const Manager& manager, const std::stop_token& stop)
      : options_(manager.options_),
        log_(manager.log_),
        clock_(orReal(options_.clock)),
        onStop_(stop, [this] { stop_.request_stop(); }) {}
  ~Group() {
    stop_.request_stop();
    join();
  }

  void start(const Runnable& runnable) {
    Started& started = started_.emplace_back(runnable.name);
    try {
      started.thread = detail::startingThread("\"" + runnable.name + "\" of a manager", [&] {
        return std::thread([this, &runnable, &started] { run(runnable, started); });
      });
    } catch (...) {
      started_.pop_back();
      throw;
    }
  }

  std::stop_token token() const { return stop_.get_token(); }
  // Blocks until all threads have ended. Throws the first exception of a runnable.
  void wait() {
    join();
    rethrow();
  }
  void rethrow() {
    const detail::Lock lock(errorMutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct Started {
    explicit Started(std::string name) : name(std::move(name)) {}
    const std::string name;
    std::thread thread;
    std::atomic<bool> ended = false;
  };

  void run(const Runnable& runnable, Started& started) {
    try {
      runnable.work(stop_.get_token());
      log_.debug("\"{}\" has ended", runnable.name);
    } catch (const std::exception& error) {
      log_.error("\"{}\" has failed: {}", runnable.name, error.what());
      fail();
    } catch (...) {
      log_.error("\"{}\" has thrown an exception that is not a std::exception", runnable.name);
      fail();
    }
    started.ended = true;
  }
  void fail() {
    {
      const detail::Lock lock(errorMutex_);
      if (!error_) error_ = std::current_exception();
    }
    stop_.request_stop();
  }
  void join() {
    if (started_.empty()) return;
    waitForAll();
    started_.clear();
  }
  void waitForAll() {
    // After the stop, the log names runnables that take long to end.
    std::optional<detail::SlowWait> slow;
    Timer grace;
    const std::stop_callback onStop(stop_.get_token(), [&] {
      slow.emplace(clock_, [this](Clock::Duration waited) {
        log_.warning("stopping: has been waiting {} for {}", detail::inSeconds(waited), unended());
      });
      try {
        grace = clock_.callAfter(options_.gracePeriod, [this] { onGraceOver(); });
      } catch (const Error& error) {
        log_.error("the end of the grace period will not be noticed: {}", error.what());
      }
    });
    for (Started& started : started_) started.thread.join();
  }
  std::string unended() const {
    std::vector<std::string> names;
    for (const Started& started : started_) {
      if (!started.ended) names.push_back("\"" + started.name + "\"");
    }
    return joined(names, ", ");
  }
  void onGraceOver() const {
    const std::string names = unended();
    if (names.empty()) return;
    log_.error("the grace period of {} is over, and these have not ended: {}",
               detail::inSeconds(options_.gracePeriod), names);
    if (options_.onGraceOver) options_.onGraceOver();
  }

  const ManagerOptions& options_;
  const Logger& log_;
  Clock& clock_;
  std::stop_source stop_;
  std::deque<Started> started_;
  detail::Mutex errorMutex_;
  std::exception_ptr error_ KUBE_GUARDED_BY(errorMutex_);
  std::stop_callback<std::function<void()>> onStop_;
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
    election.onStartedLeading = [this](const std::stop_token& stop) { runAsLeader(stop); };
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
  if (options_.http) {
    const auto answers = [this](const HealthChecks& checks) {
      return std::make_unique<AnswerQueue>(
          [&checks](const std::string& target) { return checks.answer(target); }, kChecksAtOnce,
          checkThreads_);
    };
    healthAnswers_ = answers(health_);
    readyAnswers_ = answers(ready_);
    pages_ = std::make_unique<AnswerQueue>(
        [this](const std::string&) -> ServerResponse {
          return {.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
                  .body = metrics().text()};
        },
        1, checkThreads_);
    http_ = std::make_unique<HttpServer>(limited(*options_.http),
                                         [this](ServerRequest request, const Responder& responder) {
                                           serve(std::move(request), responder);
                                         });
  }
}
Manager::~Manager() = default;

Controller<Unstructured>& Manager::controller(std::string name, const RestMapping& mapping) {
  return keep(std::make_unique<Controller<Unstructured>>(std::move(name), informers_, mapping,
                                                         controllerOptions()));
}

void Manager::add(std::string name, std::function<void(std::stop_token stop)> work, RunsOn where) {
  runnables_.push_back({std::move(name), std::move(work), where});
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
std::string Manager::url() const { return http_ ? http_->url() : std::string(); }

// Any answer of a working server counts, also the refusal of this request.
void Manager::checkServer() const {
  try {
    clients_.rest().get().absPath("/readyz").timeout(kServerPatience).raw();
  } catch (const ApiError& error) {
    if (error.status().code >= 500) throw;
  }
}

// Answers on other threads: a check may take longer than the server's thread may wait.
void Manager::serve(ServerRequest request, const Responder& responder) {
  if (request.method != "GET" && request.method != "HEAD") {
    return responder.send({.status = 405, .headers = {{"Allow", "GET, HEAD"}}});
  }
  if (health_.serves(request.target)) return healthAnswers_->ask(request.target, responder);
  if (ready_.serves(request.target)) return readyAnswers_->ask(request.target, responder);
  if (request.target == "/metrics" || request.target.starts_with("/metrics?")) {
    return pages_->ask("/metrics", responder);
  }
  responder.send(
      {.status = 404, .body = "not found: this server has /healthz, /readyz and /metrics\n"});
}

void Manager::start(Group& group, RunsOn where) const {
  for (const Runnable& runnable : runnables_) {
    if (runnable.where == where) group.start(runnable);
  }
}

void Manager::run(const std::stop_token& stop) {
  if (ran_.exchange(true)) throw Error("manager: run() may be called only once");
  std::stop_source informersStop;
  informers_.start(informersStop.get_token());
  const detail::Finally ending([&] { informers_.shutdown(); });
  log_.info("waiting for caches");
  if (!informers_.waitForSync(stop)) return;
  synced_ = true;

  Group everywhere(*this, stop);
  start(everywhere, RunsOn::Every);
  if (elector_) {
    campaign(everywhere.token());
  } else {
    runAsLeader(everywhere.token());
  }
  everywhere.wait();
}

void Manager::runAsLeader(const std::stop_token& stop) {
  working_ = true;
  const detail::Finally ending([&] { working_ = false; });
  Group group(*this, stop);
  start(group, RunsOn::Leader);
  group.wait();
}

void Manager::campaign(const std::stop_token& stop) {
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
  if (elector_->run(stop)) return;
  throw Error(fmt::format("manager: the lease {}/{} is lost", election.namespace_, election.name));
}

}  // namespace kube
