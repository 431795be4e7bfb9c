// One of several copies of a program leads, the others stand by: by a Lease that the leader renews
// and that another takes when it no longer is.
//
//   kube::LeaderElector elector(clients.rest(), {
//       .namespace_ = "kube-system", .name = "network-controller",
//       .identity = kube::uniqueIdentity(),
//       .releaseOnCancel = true,
//       .onStartedLeading = [&](std::stop_token stop) { runControllers(stop); }});
//   return elector.run(kube::signalStop()) ? 0 : 1;       // false: the lease was lost
//
// Two leaders are not at work at the same time, as long as work ends when its token asks it to and
// this process runs:
// - The token is triggered when `renewDeadline` has passed since the last renewal was begun, be the
//   renewing thread stuck or not; others wait for the longer `leaseDuration` since they saw that
//   renewal. The difference is the time that the work has to end.
// - run() returns, and calls onStoppedLeading, only when the work has ended.
// - When the caller asks to stop, the lease is renewed for as long as the work takes to end, and
//   only then given up (with `releaseOnCancel`) or left to expire.
//
// No lease can promise more. A process that is held up (SIGSTOP, a hypervisor, swapping) for longer
// than the lease goes on where it was, when another leads already, and a request may be under way
// for any time. What must not happen then needs one of these:
// - isLeader() asked right before the act: it looks at the clock, so that it knows at once. That
//   leaves the time between the question and the act. Manager::leaderClients() asks it before each
//   write.
// - A fencing token (see there), which goes with every act to whom it concerns, and who refuses
//   those of terms that are over. That leaves nothing.
// - The resourceVersion in updates of objects of the API: whoever acts on what has changed since
//   gets a conflict.
//
// Times in a lease are never compared with a local clock: a candidate measures, on its own clock,
// for how long the lease has not changed. So clocks may be wrong by any amount; what they must not
// do is run at rates that differ by more than leaseDuration to renewDeadline.
//
// A leader that sees another's name in the lease, whoever wrote it, stops at once.
//
// Thread safety: run() by one thread at a time; everything else from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "kube/api/coordination/v1.h"
#include "kube/base/backoff.h"
#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/base/map.h"
#include "kube/base/metrics.h"
#include "kube/base/string.h"
#include "kube/rest/rest_client.h"

namespace kube {

class EventRecorder;

struct LeaderElectionOptions {
  String namespace_ = {};  // of the lease
  String name = {};
  String identity = {};  // no two candidates may have the same: see uniqueIdentity()
  /// How long others wait, since they saw the lease change, before they take it. In whole seconds
  /// in the lease, rounded up.
  std::chrono::nanoseconds leaseDuration = std::chrono::seconds{15};
  /// How long the leader tries to renew it before it gives up.
  std::chrono::nanoseconds renewDeadline = std::chrono::seconds{10};
  /// The time between two tries.
  std::chrono::nanoseconds retryPeriod = std::chrono::seconds{2};
  /// Whether others may lead at once when this one is asked to stop.
  bool releaseOnCancel = false;
  Map<String> labels = {};  // of the lease, put on by who holds it

  /// The work, on a thread of its own. When it throws, the term is over and run() throws the same;
  /// when it returns early, this candidate leads on without.
  std::function<void(std::stop_token)> onStartedLeading = {};
  /// After the work has ended. Called by run().
  std::function<void()> onStoppedLeading = {};
  /// Whenever the lease has another holder, also at first and also when it is this one. Called by
  /// run(), so it must be quick.
  std::function<void(const String& identity)> onNewLeader = {};

  EventRecorder* events = nullptr;  // null: none are recorded
  Clock* clock = nullptr;           // null: the real one
  Metrics* metrics = nullptr;       // null: defaultMetrics()
};

/// The host's name and something random.
std::string uniqueIdentity();

/// One term of one holder, to tell it from all others: for systems that are written to by leaders
/// and refuse what comes from a term that is over.
///
///   const auto token = elector.fencingToken();          // in the work, at its start
///   storage.write(data, token->transitions);            // which remembers the highest it has seen
///
/// Of one lease, `transitions` grows with every change of its holder. A lease that was deleted
/// begins anew, with another uid. A process that comes back under the same identity while its lease
/// still counts goes on with its old term: identities should be unique for every start
/// (uniqueIdentity()), not only for every copy.
struct FencingToken {
  String leaseUid = {};
  std::int32_t transitions = 0;
  String holder = {};

  /// "3d1c.../7/web-1_4f2a": for an annotation, or a log.
  std::string str() const;
  bool operator==(const FencingToken&) const = default;
};

class LeaderElector {
 public:
  /// Throws ConfigError for options that make no sense: leaseDuration > renewDeadline > 1.2 x
  /// retryPeriod > 0; a name, a namespace, an identity and onStartedLeading are needed.
  LeaderElector(const RestClient& rest, LeaderElectionOptions options);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  /// Waits for the lease, leads until a stop is requested or the lease is lost, and returns when
  /// the work has ended. True: it was asked to stop; false: the lease was lost, and this may be
  /// called again. Throws what the work throws.
  bool run(const std::stop_token& stop);

  /// Whether this one leads now: false as soon as the work is asked to end because the lease is
  /// lost.
  bool isLeader() const;
  /// Of the term in which this one leads now; none when it does not.
  std::optional<FencingToken> fencingToken() const;
  /// Whoever led when this one looked last; empty: nobody, or not known.
  String leader() const;

  /// For health checks. Throws Error when this one's work has not ended although the lease has
  /// expired, by more than this time.
  void check(std::chrono::nanoseconds tolerance = {}) const;

 private:
  class Term;

  /// One try. True if this one holds the lease now.
  bool tryAcquireOrRenew(const std::stop_token& stop);
  void write(coordinationv1::Lease lease, bool create, const std::stop_token& stop);
  void release();
  void releaseOnce();
  bool leadsLocked() const KUBE_REQUIRES(stateMutex_);
  bool lead(const std::stop_token& stop);
  bool keepLease(Term& term);

  coordinationv1::LeaseSpec ownSpec() const;
  void observe(const coordinationv1::Lease& lease);
  void reportLeader();
  std::string describe() const;
  std::chrono::nanoseconds callTimeout() const;

  const LeaderElectionOptions options_;
  Clock& clock_;
  const RestClient rest_;
  const Logger log_;
  Gauge& leading_;
  Counter& slowRenewals_;

  // Of the thread in run().
  std::optional<coordinationv1::Lease> lease_;  // as last read or written
  String reportedLeader_;

  mutable detail::Mutex stateMutex_;
  coordinationv1::LeaseSpec observed_ KUBE_GUARDED_BY(stateMutex_);
  Clock::TimePoint observedAt_ KUBE_GUARDED_BY(stateMutex_);  // when it was first seen as it is
  std::optional<Clock::TimePoint> renewedAt_
      KUBE_GUARDED_BY(stateMutex_);  // when the last successful renewal was begun
  // From the first renewal until the work has ended.
  bool holding_ KUBE_GUARDED_BY(stateMutex_) = false;
  bool lost_ KUBE_GUARDED_BY(stateMutex_) = false;   // the work was asked to end
  FencingToken token_ KUBE_GUARDED_BY(stateMutex_);  // of the last term
};

}  // namespace kube
