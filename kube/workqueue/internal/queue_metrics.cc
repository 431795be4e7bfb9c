#include "kube/workqueue/internal/queue_metrics.h"

namespace kube::detail {
namespace {

// From 10 ns to 1000 s.
std::vector<double> durations() { return exponentialBuckets(1e-8, 10, 12); }

}  // namespace

QueueMetrics::QueueMetrics(Metrics& metrics, std::string_view name)
    : depth(metrics.gauges("workqueue_depth", "Items that wait in the queue.", {"name"})
                .with({name})),
      adds(metrics.counters("workqueue_adds_total", "Items added to the queue.", {"name"})
               .with({name})),
      queueDuration(metrics
                        .histograms("workqueue_queue_duration_seconds",
                                    "How long an item waits in the queue before it is worked on.",
                                    {"name"}, durations())
                        .with({name})),
      workDuration(metrics
                       .histograms("workqueue_work_duration_seconds",
                                   "How long the work on an item takes.", {"name"}, durations())
                       .with({name})),
      retries(metrics
                  .counters("workqueue_retries_total", "Items put back to be tried again later.",
                            {"name"})
                  .with({name})),
      unfinishedWork(metrics
                         .gauges("workqueue_unfinished_work_seconds",
                                 "How long the items being worked on have been, in sum; where it "
                                 "keeps growing, workers are stuck.",
                                 {"name"})
                         .with({name})),
      longestRunning(metrics
                         .gauges("workqueue_longest_running_processor_seconds",
                                 "How long the item that has been worked on the longest has been.",
                                 {"name"})
                         .with({name})) {}

QueueMetrics::~QueueMetrics() {
  update.reset();
  unfinishedWork.set(0);
  longestRunning.set(0);
}

}  // namespace kube::detail
