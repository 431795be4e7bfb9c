// Elects one of several copies of a program as the leader; the others stand by. The leader renews a
// Lease, and another copy takes it when it is no longer renewed.
//
//   kube::LeaderElector elector(clients.rest(), {
//       .namespace_ = "kube-system", .name = "network-controller",
//       .identity = kube::uniqueIdentity(),
//       .releaseOnCancel = true,
//       .onStartedLeading = [&](std::stop_token stop) { runControllers(stop); }});
//   return elector.run(kube::signalStop()) ? 0 : 1;       // false: the lease was lost
//
// In a coroutine, `co_await elector.async().run()` does the same without a thread of its own, if
// the work is a coroutine, too: the option `leading`.
//
// Two leaders are never at work at the same time, as long as work ends when its token asks it to
// and this process runs:
// - The token is triggered when `renewDeadline` has passed since the beginning of the last renewal,
//   even if the renewing thread is stuck. Other candidates wait for the longer `leaseDuration`
//   after they saw that renewal. The difference is the time that the work has to end.
// - run() returns, and calls onStoppedLeading, only when the work has ended.
// - When the caller requests a stop, the lease is renewed until the work has ended. Only then is it
//   released (with `releaseOnCancel`) or left to expire.
//
// No lease can promise more. A process that is suspended (SIGSTOP, a hypervisor, swapping) for
// longer than the lease continues where it was while another already leads, and a request may be
// under way for any time. Actions that must not happen then need one of these:
// - A call of isLeader() right before the action. It reads the clock, so it notices the loss at
//   once. The time between the call and the action remains. Manager::leaderClients() makes this
//   call before each write.
// - A FencingToken that is sent with every action; the receiver refuses tokens of terms that are
//   over. This leaves no such time.
// - The resourceVersion in updates of API objects: an update of an object that has changed since
//   gets a conflict.
//
// Times in a lease are never compared with a local clock: a candidate measures on its own clock for
// how long the lease has not changed. So clocks may be wrong by any amount; but their rates must
// not differ by more than the ratio of leaseDuration to renewDeadline.
//
// A leader that finds another name in the lease stops at once, whatever the reason.
//
// Thread safety: run() is for one thread at a time; everything else may be called from any thread.
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
#include "kube/base/task.h"
#include "kube/rest/rest_client.h"

namespace kube {

class EventRecorder;

struct LeaderElectionOptions {
  String namespace_ = {};  // of the lease
  String name = {};
  String identity = {};  // must be unique among candidates: see uniqueIdentity()
  /// The time that others wait, after they saw the lease change, before they take it. The lease
  /// holds it in whole seconds, rounded up.
  std::chrono::nanoseconds leaseDuration = std::chrono::seconds{15};
  /// The time for which the leader tries to renew the lease before it gives up.
  std::chrono::nanoseconds renewDeadline = std::chrono::seconds{10};
  /// The time between two tries.
  std::chrono::nanoseconds retryPeriod = std::chrono::seconds{2};
  /// Releases the lease when this candidate is asked to stop, so that another may lead at once.
  bool releaseOnCancel = false;
  Map<String> labels = {};  // of the lease; its holder sets them

  /// The work, on its own thread; or `leading`. If it throws, the term is over and run() throws the
  /// same exception; if it returns early, this candidate keeps leading without work.
  std::function<void(std::stop_token)> onStartedLeading = {};
  /// The work as a coroutine. It runs on the executor of async().run(), or on its own thread if a
  /// thread calls run(). What it awaits sees its stop token; a CanceledError after that is no
  /// failure.
  std::function<Task<void>()> leading = {};
  /// Called by run() after the work has ended.
  std::function<void()> onStoppedLeading = {};
  /// Called when the lease has another holder than before, also for the first holder and for this
  /// candidate. run() calls it, so it must be quick.
  std::function<void(const String& identity)> onNewLeader = {};

  EventRecorder* events = nullptr;  // null: no events are recorded
  Clock* clock = nullptr;           // null: the real one
  Metrics* metrics = nullptr;       // null: defaultMetrics()
};

/// Returns the host's name and a random part.
std::string uniqueIdentity();

/// Identifies one term of one holder, for systems that leaders write to, which refuse writes from a
/// term that is over.
///
///   const auto token = elector.fencingToken();          // at the start of the work
///   storage.write(data, token->transitions);            // the storage refuses lower numbers
///
/// `transitions` of a lease grows with every change of its holder. A lease that is deleted starts
/// again, with another uid. A process that returns under the same identity while its lease still
/// counts continues its old term: so identities should be unique for every start
/// (uniqueIdentity()), not only for every copy.
struct FencingToken {
  String leaseUid = {};
  std::int32_t transitions = 0;
  String holder = {};

  /// "3d1c.../7/web-1_4f2a", for an annotation or a log.
  std::string str() const;
  bool operator==(const FencingToken&) const = default;
};

class LeaderElector;

class AsyncLeaderElector {
 public:
  explicit AsyncLeaderElector(LeaderElector& elector) noexcept : elector_(&elector) {}

  /// As LeaderElector::run(), with the stop token of the tree. The elector outlives the task.
  /// Destroying the task gives up the work, if that is a coroutine, and waits for it otherwise; the
  /// lease is left to expire.
  Task<bool> run() const;

 private:
  LeaderElector* elector_;
};

class LeaderElector {
 public:
  /// Throws ConfigError for invalid options. leaseDuration > renewDeadline > 1.2 x retryPeriod > 0
  /// must hold; a name, a namespace, an identity and either onStartedLeading or leading are
  /// required.
  LeaderElector(const RestClient& rest, LeaderElectionOptions options);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  /// Waits for the lease, leads until a stop is requested or the lease is lost, and returns when
  /// the work has ended. Returns true after a stop; false if the lease was lost, and then run() may
  /// be called again. Throws what the work throws.
  bool run(const std::stop_token& stop);
  /// The awaitable form of run().
  AsyncLeaderElector async() noexcept;

  /// Returns whether this candidate leads now. False as soon as the work is asked to end because
  /// the lease is lost.
  bool isLeader() const;
  /// The token of the current term; none while this candidate does not lead.
  std::optional<FencingToken> fencingToken() const;
  /// The leader when this candidate looked last; empty if there was none, or it is not known.
  String leader() const;

  /// For health checks. Throws Error if the work of this candidate has not ended although the lease
  /// expired more than `tolerance` ago.
  void check(std::chrono::nanoseconds tolerance = {}) const;

 private:
  friend class AsyncLeaderElector;
  class Term;

  Task<bool> runTask();
  /// Tries once. Returns whether this candidate holds the lease now.
  Task<bool> tryAcquireOrRenew();
  Task<std::optional<coordinationv1::Lease>> find(std::chrono::nanoseconds timeout) const;
  Task<coordinationv1::Lease> send(Request request, coordinationv1::Lease lease,
                                   std::chrono::nanoseconds timeout) const;
  Task<void> write(coordinationv1::Lease lease, bool create);
  Task<void> release();
  Task<void> releaseOnce();
  bool leadsLocked() const KUBE_REQUIRES(stateMutex_);
  Task<bool> lead();
  Task<bool> keepLease(Term& term);
  void record(const char* what) const;

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

  // Used by run() only.
  std::optional<coordinationv1::Lease> lease_;  // as it was last read or written
  String reportedLeader_;

  mutable detail::Mutex stateMutex_;
  coordinationv1::LeaseSpec observed_ KUBE_GUARDED_BY(stateMutex_);
  Clock::TimePoint observedAt_ KUBE_GUARDED_BY(stateMutex_);  // when observed_ was first seen
  // Beginning of the last successful renewal.
  std::optional<Clock::TimePoint> renewedAt_ KUBE_GUARDED_BY(stateMutex_);
  // From the first renewal until the work has ended.
  bool holding_ KUBE_GUARDED_BY(stateMutex_) = false;
  bool lost_ KUBE_GUARDED_BY(stateMutex_) = false;   // the work was asked to end
  FencingToken token_ KUBE_GUARDED_BY(stateMutex_);  // of the last term
};

}  // namespace kube
