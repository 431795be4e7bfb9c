// Calls the functions of PortForwardOptions, one at a time and in order, on the program's executor
// or a thread of TaskThreads: never on the I/O thread, so they may block.
//
// Thread safety: every method may be called from any thread. A function may destroy the forward,
// and with it this.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task_scope.h"
#include "kube/client/pods/port_forward.h"

namespace kube::detail {

class ForwardReports {
 public:
  /// The reports that may wait for a function that takes its time; later ones are dropped.
  static constexpr std::size_t kMost = 1000;

  ForwardReports(PortForwardOptions options, const std::stop_token& stop);

  void connection(const BoundPort& port) { add({port, {}}); }
  void error(const BoundPort& port, const std::string& problem) { add({port, problem}); }

  /// Waits until no function is called any more, after a stop.
  Task<void> join() const { return calls_.join(); }
  /// The blocking form. Throws Error in one of the functions.
  void wait() const { calls_.wait(); }

 private:
  struct Report {
    BoundPort port;
    std::string problem;  // empty: a new connection
  };
  // Outlives this while a function destroys it.
  struct Queue {
    explicit Queue(PortForwardOptions given) : options(std::move(given)) {}

    const PortForwardOptions options;
    Mutex reportsMutex;
    Condition added{reportsMutex};
    std::deque<Report> reports KUBE_GUARDED_BY(reportsMutex);
  };
  void add(Report report);
  static Task<void> deliver(std::shared_ptr<Queue> queue);

  const std::shared_ptr<Queue> queue_;
  TaskScope calls_;
};

}  // namespace kube::detail
