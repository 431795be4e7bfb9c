#include "kube/client/pods/internal/forward_reports.h"

#include <fmt/core.h>

#include <utility>

#include "kube/base/internal/guarded.h"
#include "kube/base/internal/thread_tree.h"

namespace kube::detail {

ForwardReports::ForwardReports(PortForwardOptions options, const std::stop_token& stop)
    : queue_(std::make_shared<Queue>(std::move(options))),
      calls_(queue_->options.executor ? queue_->options.executor : taskThreadsExecutor(), stop) {
  const PortForwardOptions& all = queue_->options;
  if (all.onConnection || all.onError) calls_.start(deliver(queue_), "a port-forward's reports");
}

void ForwardReports::add(Report report) {
  const bool wanted = report.problem.empty() ? static_cast<bool>(queue_->options.onConnection)
                                             : static_cast<bool>(queue_->options.onError);
  if (!wanted) return;
  const Lock lock(queue_->reportsMutex);
  if (queue_->reports.size() >= kMost) return;
  queue_->reports.push_back(std::move(report));
  queue_->added.notifyAll();
}

Task<void> ForwardReports::deliver(std::shared_ptr<Queue> queue) {
  const std::stop_token stop = co_await taskStop();
  const auto ready = [&queue]()
                         KUBE_REQUIRES(queue->reportsMutex) { return !queue->reports.empty(); };
  while (!stop.stop_requested()) {
    const bool there = co_await queue->added.wait(ready);
    if (!there) break;
    Report report;
    {
      const Lock lock(queue->reportsMutex);
      report = std::move(queue->reports.front());
      queue->reports.pop_front();
    }
    const BoundPort& port = report.port;
    guarded("port-forward", report.problem.empty() ? "onConnection" : "onError", [&] {
      if (report.problem.empty()) return queue->options.onConnection(port);
      queue->options.onError(port, Error(fmt::format("forwarding {}:{} -> {}: {}", port.address,
                                                     port.local, port.remote, report.problem)));
    });
  }
}

}  // namespace kube::detail
