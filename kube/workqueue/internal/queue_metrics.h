// The metrics of a named queue, with client-go's names: workqueue_depth, workqueue_adds_total,
// workqueue_queue_duration_seconds, workqueue_work_duration_seconds, workqueue_retries_total,
// workqueue_unfinished_work_seconds and workqueue_longest_running_processor_seconds. All have the
// label `name`.
#pragma once

#include <functional>
#include <string_view>

#include "kube/base/clock.h"
#include "kube/base/metrics.h"

namespace kube::detail {

struct QueueMetrics {
  QueueMetrics(Metrics& metrics, std::string_view name);
  ~QueueMetrics();
  QueueMetrics(const QueueMetrics&) = delete;
  QueueMetrics& operator=(const QueueMetrics&) = delete;

  Gauge& depth;
  Counter& adds;
  Histogram& queueDuration;
  Histogram& workDuration;
  Counter& retries;
  Gauge& unfinishedWork;
  Gauge& longestRunning;
  MetricUpdate update = {};  // sets unfinishedWork and longestRunning
};

inline double secondsOf(Clock::Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace kube::detail
