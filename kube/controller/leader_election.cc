#include "kube/controller/leader_election.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/task_scope.h"
#include "kube/controller/event_recorder.h"
#include "kube/meta/api_error.h"

namespace kube {
namespace {

// Lengthens the pause between two tries by up to this many periods, at random, so that candidates
// do not try at the same time.
constexpr double kJitter = 1.2;

using coordinationv1::Lease;
using coordinationv1::LeaseSpec;

void validate(const LeaderElectionOptions& options) {
  const auto require = [&](bool fine, std::string_view what) {
    if (!fine) {
      throw ConfigError(fmt::format("leader election \"{}\": {}", options.name, what));
    }
  };
  require(options.retryPeriod.count() > 0, "retryPeriod must be greater than zero");
  require(options.renewDeadline.count() > 0, "renewDeadline must be greater than zero");
  require(options.leaseDuration > options.renewDeadline,
          "leaseDuration must be greater than renewDeadline");
  require(static_cast<double>(options.renewDeadline.count()) >
              kJitter * static_cast<double>(options.retryPeriod.count()),
          "renewDeadline must be greater than 1.2 times retryPeriod");
  require(!options.name.empty(), "name is empty");
  require(!options.namespace_.empty(), "namespace is empty");
  require(!options.identity.empty(), "identity is empty");
  require(options.onStartedLeading != nullptr || options.leading != nullptr,
          "onStartedLeading is missing");
  require(options.onStartedLeading == nullptr || options.leading == nullptr,
          "onStartedLeading and leading are both set");
}

}  // namespace

std::string uniqueIdentity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", host.data(), random(), random());
}

// The work of one term, and the conditions that end it.
class LeaderElector::Term {
 public:
  Term(LeaderElector& elector, const detail::TaskContext& context)
      : elector_(elector), context_(context), stop_(context.stop) {}

  // Ends the work and waits for it, or gives it up if it is a coroutine.
  ~Term() {
    end();
    if (worker_.joinable()) worker_.join();
    tasks_.reset();
    Timer dropped;  // destroyed without the lock, which its function takes
    const detail::Lock lock(elector_.stateMutex_);
    closed_ = true;
    dropped = std::move(timer_);
  }

  // Starts the work. From then on the work is asked to end if the lease is not renewed in time,
  // even if the thread that renews is stuck. Returns false if the deadline has already passed.
  bool start() {
    {
      const detail::Lock lock(elector_.stateMutex_);
      arm();
    }
    if (!isInTime()) return false;
    const std::string name = fmt::format("the work of the leader ({})", elector_.options_.name);
    if (!elector_.options_.onStartedLeading && !context_.mayBlock) {
      tasks_.emplace(context_.executor, workStop_.get_token());
      tasks_->start(workInTask(), name);
      return true;
    }
    worker_ =
        detail::startingThread(name, [this] { return std::thread([this] { workOnThread(); }); });
    return true;
  }

  // Returns whether the last renewal still counts.
  bool isInTime() {
    const detail::Lock lock(elector_.stateMutex_);
    if (elector_.clock_.now() >= deadline()) elector_.lost_ = true;
    return !elector_.lost_;
  }

  void end() { workStop_.request_stop(); }
  Task<bool> waitForWork() {
    return detail::underStop(sleepUntil(Clock::noDeadline, elector_.clock_), ended_.get_token());
  }
  std::exception_ptr error() const { return ended_.stop_requested() ? error_ : nullptr; }

  // Returns whether the work has ended for good, so that the lease need not be kept. Work that
  // returned early, without a stop or an error, keeps the lease.
  bool isOver() const {
    return ended_.stop_requested() && (stop_.stop_requested() || error_ != nullptr);
  }
  // Triggered when the term is over or the lease is lost.
  std::stop_token endOfRenewing() const { return renewStop_.get_token(); }

 private:
  Clock::TimePoint deadline() const KUBE_REQUIRES(elector_.stateMutex_) {
    return *elector_.renewedAt_ + elector_.options_.renewDeadline;
  }
  void arm() KUBE_REQUIRES(elector_.stateMutex_) {
    timer_ = elector_.clock_.callAt(deadline(), [this] { onTime(); });
  }

  void onTime() {
    {
      const detail::Lock lock(elector_.stateMutex_);
      if (closed_) return;
      if (elector_.clock_.now() < deadline()) {  // the lease has been renewed since
        arm();
        return;
      }
      elector_.lost_ = true;
    }
    end();
    renewStop_.request_stop();
  }

  void workOnThread() {
    if (!elector_.options_.onStartedLeading) return blockOn(workInTask(), workStop_.get_token());
    try {
      elector_.options_.onStartedLeading(workStop_.get_token());
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_.request_stop();
  }

  Task<void> workInTask() {
    try {
      co_await elector_.options_.leading();
    } catch (const CanceledError&) {
      if (!workStop_.stop_requested()) error_ = std::current_exception();
    } catch (...) {
      error_ = std::current_exception();
    }
    ended_.request_stop();
  }

  void checkOver() {
    if (isOver()) renewStop_.request_stop();
  }

  LeaderElector& elector_;
  const detail::TaskContext& context_;  // the caller's
  const std::stop_token stop_;          // its token
  std::stop_source workStop_;
  std::stop_source ended_;
  std::stop_source renewStop_;
  std::exception_ptr error_;  // written before ended_ is triggered, read after
  std::thread worker_;        // this, or tasks_
  std::optional<TaskScope> tasks_;
  Timer timer_ KUBE_GUARDED_BY(elector_.stateMutex_);
  bool closed_ KUBE_GUARDED_BY(elector_.stateMutex_) = false;
  // After a stop the work may take all the time it needs, and the lease is kept until it has ended.
  std::stop_callback<std::function<void()>> onStop_{stop_, [this] {
                                                      end();
                                                      checkOver();
                                                    }};
  std::stop_callback<std::function<void()>> onEnd_{ended_.get_token(), [this] { checkOver(); }};
};

LeaderElector::LeaderElector(const RestClient& rest, LeaderElectionOptions options)
    : options_((validate(options), std::move(options))),
      clock_(orReal(options_.clock)),
      rest_(rest.forVersion({"coordination.k8s.io", "v1"})),
      log_(Logger("leaderelection").with("lease", describe())),
      leading_((orDefault(options_.metrics))
                   .gauges("leader_election_master_status",
                           "Whether this process leads (1) or stands by (0).", {"name"})
                   .with({options_.name})),
      slowRenewals_((orDefault(options_.metrics))
                        .counters("leader_election_slowpath_total",
                                  "Renewals that had to read the lease first.", {"name"})
                        .with({options_.name})) {
  leading_.set(0);
}
LeaderElector::~LeaderElector() = default;

std::string LeaderElector::describe() const {
  return fmt::format("{}/{}", options_.namespace_, options_.name);
}

// Limits a call, so that one that hangs does not cost the lease.
std::chrono::nanoseconds LeaderElector::callTimeout() const {
  return std::max<std::chrono::nanoseconds>(std::chrono::seconds{1}, options_.renewDeadline / 2);
}

bool LeaderElector::isLeader() const {
  const detail::Lock lock(stateMutex_);
  return leadsLocked();
}

bool LeaderElector::leadsLocked() const {
  return holding_ && !lost_ && clock_.now() < *renewedAt_ + options_.renewDeadline;
}

std::optional<FencingToken> LeaderElector::fencingToken() const {
  const detail::Lock lock(stateMutex_);
  if (!leadsLocked()) return std::nullopt;
  return token_;
}

std::string FencingToken::str() const {
  return fmt::format("{}/{}/{}", leaseUid, transitions, holder);
}

String LeaderElector::leader() const {
  const detail::Lock lock(stateMutex_);
  return observed_.holderIdentity.value_or(String());
}

void LeaderElector::check(std::chrono::nanoseconds tolerance) const {
  const detail::Lock lock(stateMutex_);
  if (!holding_ || clock_.now() <= *renewedAt_ + options_.leaseDuration + tolerance) return;
  throw Error(
      fmt::format("failed election to renew leadership on lease {}: it has expired, and the "
                  "work has not ended",
                  describe()));
}

LeaseSpec LeaderElector::ownSpec() const {
  LeaseSpec spec;
  spec.holderIdentity = options_.identity;
  // Rounded up: other candidates must not wait for less time than this one counts on.
  spec.leaseDurationSeconds = static_cast<std::int32_t>(
      std::chrono::ceil<std::chrono::seconds>(options_.leaseDuration).count());
  spec.renewTime = spec.acquireTime = MicroTime(clock_.wallNow());
  spec.leaseTransitions = 0;
  return spec;
}

void LeaderElector::observe(const Lease& lease) {
  const detail::Lock lock(stateMutex_);
  if (*lease.spec == observed_) return;
  observed_ = *lease.spec;
  observedAt_ = clock_.now();
}

Task<std::optional<Lease>> LeaderElector::find(std::chrono::nanoseconds timeout) const {
  Request request = rest_.get();
  request.namespace_(options_.namespace_).resource("leases").name(options_.name).timeout(timeout);
  try {
    co_return co_await std::move(request).async().into<Lease>();
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
  }
  co_return std::nullopt;
}

Task<Lease> LeaderElector::send(Request request, Lease lease,
                                std::chrono::nanoseconds timeout) const {
  request.namespace_(options_.namespace_).resource("leases").timeout(timeout);
  return std::move(request).async().intoWith<Lease>(std::move(lease));
}

Task<void> LeaderElector::write(Lease lease, bool create) {
  const auto begun = clock_.now();
  for (const auto& [name, value] : options_.labels) lease.metadata.labels[name] = value;
  Request request = create ? rest_.post() : rest_.put();
  if (!create) request.name(options_.name);
  lease_ = co_await send(std::move(request), std::move(lease), callTimeout());
  observe(*lease_);
  const detail::Lock lock(stateMutex_);
  renewedAt_ = begun;
}

Task<bool> LeaderElector::tryAcquireOrRenew() {
  LeaseSpec wanted = ownSpec();
  const auto keep = [&](const LeaseSpec& before) {
    wanted.acquireTime = before.acquireTime;
    wanted.leaseTransitions = before.leaseTransitions.value_or(0);
    wanted.strategy = before.strategy;
  };
  try {
    // While this candidate leads, no other may take the lease, so it need not be read first.
    if (lease_ && isLeader()) {
      try {
        Lease lease = *lease_;
        keep(*std::as_const(lease).spec);
        lease.spec = wanted;
        co_await write(std::move(lease), false);
        co_return true;
      } catch (const ApiError& error) {
        log_.debug("renewing failed, reading the lease first: {}", error.what());
        slowRenewals_.add();
      }
    }
    std::optional<Lease> read = co_await find(callTimeout());
    if (!read) {
      Lease lease;
      lease.metadata.name = options_.name;
      lease.metadata.namespace_ = options_.namespace_;
      lease.spec = wanted;
      co_await write(std::move(lease), true);
      co_return true;
    }
    Lease lease = *read;
    lease_ = lease;
    observe(lease);

    const LeaseSpec& found = *std::as_const(lease).spec;
    const String holder = found.holderIdentity.value_or(String());
    if (holder == options_.identity) {
      keep(found);
    } else {
      if (!holder.empty()) {
        const detail::Lock lock(stateMutex_);
        if (holding_) co_return false;  // another has the lease: this term is over
        const std::chrono::seconds duration{found.leaseDurationSeconds.value_or(0)};
        // Not at the very moment of its expiry: the holder may still renew it at that instant.
        if (clock_.now() <= observedAt_ + duration) co_return false;
      }
      wanted.leaseTransitions = found.leaseTransitions.value_or(0) + 1;
      wanted.strategy = found.strategy;
    }
    lease.spec = wanted;
    co_await write(std::move(lease), false);
    co_return true;
  } catch (const CanceledError&) {
    co_return false;
  } catch (const Error& error) {
    log_.warning("the lease could not be acquired or renewed: {}", error.what());
    co_return false;
  }
}

void LeaderElector::reportLeader() {
  const String now = leader();
  if (now == reportedLeader_) return;
  reportedLeader_ = now;
  log_.info("the leader is \"{}\"", now);
  if (options_.onNewLeader)
    detail::guarded(log_, "onNewLeader", [&] { options_.onNewLeader(now); });
}

bool LeaderElector::run(const std::stop_token& stop) {
  return detail::runBlocking(runTask(), stop);
}

AsyncLeaderElector LeaderElector::async() noexcept { return AsyncLeaderElector(*this); }
Task<bool> AsyncLeaderElector::run() const { return elector_->runTask(); }

Task<bool> LeaderElector::runTask() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  Backoff waits({.initial = options_.retryPeriod, .factor = 1, .jitter = kJitter}, clock_);
  log_.info("waiting for the lease");
  for (;;) {
    if (context.stop.stop_requested()) co_return true;
    const bool acquired = co_await tryAcquireOrRenew();
    if (acquired) break;
    reportLeader();
    co_await sleepFor(waits.next().value(), clock_);
  }
  co_return co_await lead();
}

void LeaderElector::record(const char* what) const {
  if (options_.events == nullptr) return;
  corev1::ObjectReference about;
  about.kind = "Lease";
  about.apiVersion = "coordination.k8s.io/v1";
  about.namespace_ = options_.namespace_;
  about.name = options_.name;
  about.uid = lease_->metadata.uid;
  options_.events->normal(about, "LeaderElection", "{} {}", options_.identity, what);
}

Task<bool> LeaderElector::lead() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  bool began = false;
  bool kept = false;
  std::exception_ptr error;
  {
    {
      const detail::Lock lock(stateMutex_);
      holding_ = true;
      lost_ = false;
      token_ = {.leaseUid = lease_->metadata.uid,
                .transitions = observed_.leaseTransitions.value_or(0),
                .holder = options_.identity};
    }
    const detail::Finally ended([this] {
      const detail::Lock lock(stateMutex_);
      holding_ = false;
      leading_.set(0);
    });
    leading_.set(1);
    log_.info("leading");
    record("became leader");
    reportLeader();
    {
      Term term(*this, context);
      try {
        began = term.start();
      } catch (...) {  // no thread could be started: let another candidate lead
        error = std::current_exception();
        kept = true;
      }
      if (began) {
        kept = co_await detail::underStop(keepLease(term), term.endOfRenewing());
        leading_.set(0);
        if (!kept) log_.error("the lease is lost; waiting for the work to end");
        term.end();
        co_await term.waitForWork();
        error = term.error();
      }
    }
    // The lease is released only after the work has ended, whatever has been asked to stop.
    const std::stop_token never;
    if (kept && options_.releaseOnCancel) co_await detail::underStop(release(), never);
  }
  record("stopped leading");
  log_.info("no longer leading");
  if (began && options_.onStoppedLeading)
    detail::guarded(log_, "onStoppedLeading", options_.onStoppedLeading);
  if (error) std::rethrow_exception(error);
  co_return kept;
}

// Renews until the term is over or the lease is lost: its stop token tells. Returns false if it is
// lost.
Task<bool> LeaderElector::keepLease(Term& term) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  for (;;) {
    co_await sleepFor(options_.retryPeriod, clock_);
    bool renewed = false;
    if (!context.stop.stop_requested()) renewed = co_await tryAcquireOrRenew();
    reportLeader();
    if (renewed && !term.isInTime()) co_return false;
    const detail::Lock lock(stateMutex_);
    if (!renewed && observed_.holderIdentity != options_.identity) lost_ = true;
    if (lost_) co_return false;
    if (term.isOver()) co_return true;
  }
}

Task<void> LeaderElector::release() {
  // The server may still carry out a renewal that was given up, between the read and the write
  // here.
  constexpr int kTries = 5;
  try {
    for (int tries = 1;; ++tries) {
      try {
        co_await releaseOnce();
        co_return;
      } catch (const ApiError& error) {
        if (!isConflict(error) || tries == kTries) throw;
        log_.debug("releasing the lease failed, reading it again: {}", error.what());
      }
    }
  } catch (const Error& error) {
    log_.warning("the lease could not be released and will expire: {}", error.what());
  }
}

Task<void> LeaderElector::releaseOnce() {
  // The lease may be newer than the one that is known here, if an answer was lost.
  std::optional<Lease> read = co_await find(options_.renewDeadline);
  if (!read) co_return;
  Lease lease = *read;
  const LeaseSpec found = *std::as_const(lease).spec;
  if (found.holderIdentity != options_.identity) co_return;
  LeaseSpec free = ownSpec();
  free.holderIdentity = String();
  free.leaseDurationSeconds = 1;
  free.leaseTransitions = found.leaseTransitions;
  free.strategy = found.strategy;
  lease.spec = free;
  Request request = rest_.put();
  request.name(options_.name);
  lease_ = co_await send(std::move(request), std::move(lease), options_.renewDeadline);
  observe(*lease_);
}

}  // namespace kube
