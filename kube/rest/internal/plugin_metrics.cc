#include "kube/rest/internal/plugin_metrics.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "kube/base/internal/mutex.h"

namespace kube::detail {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// From ten minutes, a rotation that is too fast, to four years.
std::vector<double> ages() {
  return {600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000, 124416000};
}

}  // namespace

// The ends of the certificates of all plugins that count into one registry. The gauge is the
// nearest of them.
class PluginMetrics::Expiries {
 public:
  static std::shared_ptr<Expiries> of(Metrics& metrics) {
    // Never destroyed: the last source may be a static object.
    static Mutex* const byRegistryMutex = new Mutex;
    static auto* const byRegistry = new std::map<Metrics*, std::weak_ptr<Expiries>>;
    const Lock lock(*byRegistryMutex);
    std::erase_if(*byRegistry, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<Expiries>& entry = (*byRegistry)[&metrics];
    if (auto known = entry.lock()) return known;
    const auto made = std::make_shared<Expiries>(metrics);
    entry = made;
    return made;
  }

  explicit Expiries(Metrics& metrics)
      : ttl_(metrics.gauge(
            "rest_client_exec_plugin_ttl_seconds",
            "Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the "
            "auth exec plugin. The value is in seconds until certificate expiry (negative if "
            "already expired). If auth exec plugins are unused or manage no TLS certificates, the "
            "value will be +INF.")) {
    ttl_.set(kNever);
    update_ = metrics.beforeReading([this] { ttl_.set(shortest()); });
  }
  ~Expiries() {
    update_.reset();
    ttl_.set(kNever);
  }

  void set(const PluginMetrics* source, Clock& clock, Clock::WallTime expires) {
    const Lock lock(endsMutex_);
    ends_.insert_or_assign(source, End{&clock, expires});
  }
  void erase(const PluginMetrics* source) {
    const Lock lock(endsMutex_);
    ends_.erase(source);
  }

 private:
  struct End {
    Clock* clock;
    Clock::WallTime expires;
  };

  double shortest() const {
    const Lock lock(endsMutex_);
    double least = kNever;
    for (const auto& [source, end] : ends_) {
      const std::chrono::duration<double> left = end.expires - end.clock->wallNow();
      least = std::min(least, left.count());
    }
    return least;
  }

  Gauge& ttl_;
  mutable Mutex endsMutex_;
  std::map<const PluginMetrics*, End> ends_ KUBE_GUARDED_BY(endsMutex_);
  MetricUpdate update_;
};

PluginMetrics::PluginMetrics(Metrics& metrics, Clock& clock)
    : clock_(clock),
      calls_(metrics.counters(
          "rest_client_exec_plugin_call_total",
          "Number of calls to an exec plugin, partitioned by the type of event encountered "
          "(no_error, plugin_execution_error, plugin_not_found_error, client_internal_error) and "
          "an optional exit code. The exit code will be set to 0 if and only if the plugin call "
          "was successful.",
          {"code", "call_status"})),
      policy_(metrics.counters(
          "rest_client_exec_plugin_policy_call_total",
          "Number of comparisons of an exec plugin to the plugin policy and allowlist (if any), "
          "partitioned by whether or not the policy permits the plugin",
          {"status"})),
      age_(metrics.histogram(
          "rest_client_exec_plugin_certificate_rotation_age",
          "Histogram of the number of seconds the last auth exec plugin client certificate lived "
          "before being rotated. If auth exec plugin client certificates are unused, histogram "
          "will contain no data.",
          ages())),
      expiries_(Expiries::of(metrics)) {}

PluginMetrics::~PluginMetrics() { expiries_->erase(this); }

void PluginMetrics::called(int exitCode, std::string_view status) const {
  calls_.with({std::to_string(exitCode), status}).add();
}

void PluginMetrics::judged(bool allowed) const {
  policy_.with({allowed ? "allowed" : "denied"}).add();
}

void PluginMetrics::rotated(std::optional<Clock::WallTime> previous,
                            Clock::WallTime expires) const {
  if (previous) {
    age_.observe(std::chrono::duration<double>(clock_.wallNow() - *previous).count());
  }
  expiries_->set(this, clock_, expires);
}

}  // namespace kube::detail
