// The metrics of a running informer. All have the label `name`; informers of the same name add up:
// informer_objects, informer_handlers, informer_pending_notifications,
// informer_handler_lag_seconds, informer_handler_failures_total, informer_lists_total,
// informer_watches_total, informer_events_total, informer_errors_total,
// informer_transform_failures_total, informer_shared_bytes_total.
//
// They cost an informer nothing while the registry is not read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "kube/base/metrics.h"
#include "kube/cache/informer_stats.h"

namespace kube {

namespace detail {

class InformerMetrics {
 public:
  /// Calls `stats` whenever the registry is read, until this object is destroyed.
  InformerMetrics(Metrics& metrics, std::string_view name, std::function<InformerStats()> stats);
  ~InformerMetrics();
  InformerMetrics(const InformerMetrics&) = delete;
  InformerMetrics& operator=(const InformerMetrics&) = delete;

 private:
  // Adds the differences to the last call.
  void tell(const InformerStats& now);

  Gauge& objects_;
  Gauge& handlers_;
  Gauge& pending_;
  Gauge& lag_;
  Counter& handlerFailures_;
  Counter& lists_;
  Counter& watches_;
  Counter& events_;
  Counter& errors_;
  Counter& transformFailures_;
  Counter& sharedBytes_;

  const std::function<InformerStats()> stats_;
  InformerStats told_;
  MetricUpdate update_;
};

}  // namespace detail

}  // namespace kube
