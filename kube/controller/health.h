// Health checks of a program, served to the probes of Kubernetes.
//
//   kube::HealthChecks ready("readyz");
//   ready.add("disk", [] { if (diskIsFull()) throw kube::Error("the disk is full"); });
//   kube::ServerResponse answer = ready.answer("/readyz?verbose");
//
// A check is a function that throws if something is wrong. The answer for all checks is "ok", or
// 500 with a line for every check. /readyz/disk runs one check, ?verbose adds all lines,
// ?exclude=disk leaves one check out: as with kube-apiserver's /readyz.
//
// keptFor() keeps the result of a slow check for a while, so that many probes cause one call. An
// AnswerQueue runs a few requests at a time, however many wait.
//
// Thread safety: every method may be called from any thread. Several threads call the checks.
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

/// Returns the same check, called by one thread at a time. Callers that come meanwhile, or within
/// that time afterwards, share its result. The clock must outlive the check.
HealthCheck keptFor(Clock::Duration time, Clock& clock, HealthCheck check);

class HealthChecks {
 public:
  /// `name` is the name of the endpoint, without a slash.
  explicit HealthChecks(std::string name) : name_(std::move(name)) {}

  /// Throws Error if a check with that name exists.
  void add(std::string name, HealthCheck check);

  /// Returns whether a request is for these checks.
  bool serves(std::string_view target) const;
  /// `target` is path and query.
  ServerResponse answer(std::string_view target) const;

 private:
  // Logs a failure once, not for each probe that finds it.
  void tell(const std::string& name, const std::optional<std::string>& problem) const;

  const std::string name_;
  mutable detail::Mutex checksMutex_;
  std::vector<std::pair<std::string, HealthCheck>> checks_ KUBE_GUARDED_BY(checksMutex_);
  // By name: the error that was logged last.
  mutable std::map<std::string, std::string> failing_ KUBE_GUARDED_BY(checksMutex_);
};

/// Answers requests on threads, a few at a time. Waiting requests for the same target share one
/// answer. When too many wait, those that have waited the longest get a 503.
class AnswerQueue {
 public:
  using Answer = std::function<ServerResponse(const std::string& target)>;

  /// Must outlive the threads.
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
