// Checks of whether a program is well, and what Kubernetes' probes ask for.
//
//   kube::HealthChecks ready("readyz");
//   ready.add("disk", [] { if (diskIsFull()) throw kube::Error("the disk is full"); });
//   kube::ServerResponse answer = ready.answer("/readyz?verbose");
//
// A check is a function that throws if something is wrong. Asked for all, the answer is "ok", or
// 500 with a line for every check; /readyz/disk asks for one, ?verbose for all lines, ?exclude=disk
// for all but one: as kube-apiserver's /readyz does.
//
// A check that asks something else, and takes its time, is made one for probes by keptFor(); and an
// AnswerQueue has a few checked at a time, however many ask.
//
// Thread safety: every method may be called from any thread, and checks are called by several.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task_threads.h"
#include "kube/http/http_server.h"

namespace kube {

/// Throws if something is wrong.
using HealthCheck = std::function<void()>;

/// The same check, called by one thread at a time; who asks meanwhile, or within that time
/// afterwards, is told what has come of it. The clock must outlive it.
HealthCheck keptFor(Clock::Duration time, Clock& clock, HealthCheck check);

class HealthChecks {
 public:
  /// The name is that of the endpoint, without a slash.
  explicit HealthChecks(std::string name) : name_(std::move(name)) {}

  /// Throws Error where there is one of that name.
  void add(std::string name, HealthCheck check);

  /// Whether a request is for these.
  bool serves(std::string_view target) const;
  /// `target` is path and query.
  ServerResponse answer(std::string_view target) const;

 private:
  // A failure is told once, not for each of the probes that find it.
  void tell(const std::string& name, const std::optional<std::string>& problem) const;

  const std::string name_;
  mutable detail::Mutex checksMutex_;
  std::vector<std::pair<std::string, HealthCheck>> checks_ KUBE_GUARDED_BY(checksMutex_);
  mutable std::map<std::string, std::string> failing_
      KUBE_GUARDED_BY(checksMutex_);  // by name: what was told
};

/// Answers requests by threads, a few at a time. Those for the same that wait are answered at once.
/// Where too many wait, those that have waited the longest get a 503.
class AnswerQueue {
 public:
  using Answer = std::function<ServerResponse(const std::string& target)>;

  /// Must not be destroyed before the threads have ended.
  AnswerQueue(Answer answer, std::size_t atOnce, TaskThreads& threads)
      : answer_(std::move(answer)), atOnce_(atOnce), threads_(threads) {}

  void ask(const std::string& target, Responder responder);

 private:
  struct Question {
    std::string target;
    std::vector<Responder> responders;
  };
  void work();

  const Answer answer_;
  const std::size_t atOnce_;
  TaskThreads& threads_;
  detail::Mutex waitingMutex_;
  std::deque<Question> waiting_ KUBE_GUARDED_BY(waitingMutex_);
  std::size_t waitingResponders_ KUBE_GUARDED_BY(waitingMutex_) = 0;
  std::size_t working_ KUBE_GUARDED_BY(waitingMutex_) = 0;
};

}  // namespace kube
