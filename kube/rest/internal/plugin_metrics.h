// Counts runs of exec plugins and the life of their certificates, under the names of client-go.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "kube/base/clock.h"
#include "kube/base/metrics.h"

namespace kube::detail {

class PluginMetrics {
 public:
  /// The clock outlives it.
  PluginMetrics(Metrics& metrics, Clock& clock);
  ~PluginMetrics();

  /// `status` is one of upstream's: no_error, plugin_execution_error, plugin_not_found_error or
  /// client_internal_error.
  void called(int exitCode, std::string_view status) const;
  /// Counts a comparison with the PluginPolicy.
  void judged(bool allowed) const;
  /// A new certificate is used until `expires`. `previous` is the start of the one before.
  void rotated(std::optional<Clock::WallTime> previous, Clock::WallTime expires) const;

 private:
  class Expiries;

  Clock& clock_;
  MetricFamily<Counter>& calls_;
  MetricFamily<Counter>& policy_;
  Histogram& age_;
  const std::shared_ptr<Expiries> expiries_;
};

}  // namespace kube::detail
