#include "kube/workqueue/internal/queue_metrics.h"

namespace kube::detail {
namespace {

// From 10 ns to 1000 s.
std::vector<double> durations() { return exponentialBuckets(1e-8, 10, 12); }

}  // namespace

QueueMetrics::QueueMetrics(Metrics& metrics, std::string_view name)
    : depth(metrics.gauges("workqueue_depth", "Waiting items.", {"name"}).with({name})),
      adds(metrics.counters("workqueue_adds_total", "Items added to the queue.", {"name"})
               .with({name})),
      queueDuration(metrics
                        .histograms("workqueue_queue_duration_seconds",
                                    "Time that items wait before a worker takes them.", {"name"},
                                    durations())
                        .with({name})),
      workDuration(metrics
                       .histograms("workqueue_work_duration_seconds",
                                   "Time that the work on items takes.", {"name"}, durations())
                       .with({name})),
      retries(metrics.counters("workqueue_retries_total", "Items added with a delay.", {"name"})
                  .with({name})),
      unfinishedWork(metrics
                         .gauges("workqueue_unfinished_work_seconds",
                                 "Time so far of the work on all items in work. If it keeps "
                                 "growing, workers hang.",
                                 {"name"})
                         .with({name})),
      longestRunning(metrics
                         .gauges("workqueue_longest_running_processor_seconds",
                                 "Time so far of the longest work on an item.", {"name"})
                         .with({name})) {}

QueueMetrics::~QueueMetrics() {
  update.reset();
  unfinishedWork.set(0);
  longestRunning.set(0);
}

}  // namespace kube::detail
