// Counters and other measurements of a program, for Prometheus to read.
//
//   Metrics& metrics = defaultMetrics();
//   MetricFamily<Counter>& sent =
//       metrics.counters("rest_client_requests_total", "Requests sent.", {"code", "method"});
//   sent.with({"200", "GET"}).add();
//
//   Histogram& took = defaultMetrics().histogram("sync_seconds", "How long syncs take.",
//                                                exponentialBuckets(0.001, 2, 12));
//   took.observe(0.25);
//   std::string page = defaultMetrics().text();   // the answer of /metrics
//
// A family has a name and the names of its labels. Each combination of label values is a metric of
// its own, made on first use. Metrics are never removed, so a reference to a metric is valid as
// long as its registry. Code that writes often keeps the reference: writing takes one or two
// relaxed atomic operations, finding a metric by its labels takes a lock. Keep label values few.
//
// A registry returns an existing family of the same name, whatever the help.
//
// Thread safety: everything may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"

namespace kube {

/// A number that only goes up.
class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// A number that goes up and down.
class Gauge {
 public:
  void set(double value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(double n) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  double value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

/// Counts values by size.
class Histogram {
 public:
  /// A bucket holds values up to and including its bound that are in no earlier bucket. Throws
  /// Error unless bounds ascend.
  explicit Histogram(std::vector<double> bounds);

  void observe(double value) noexcept;

  const std::vector<double>& bounds() const noexcept { return bounds_; }
  /// The number of values in each bucket; the last bucket is for values above all bounds.
  std::vector<std::uint64_t> counts() const;
  std::uint64_t count() const noexcept;
  double sum() const noexcept { return sum_.load(std::memory_order_relaxed); }

 private:
  std::vector<double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;
  std::atomic<double> sum_ = 0;
};

/// 0.1, 1, 10 for (0.1, 10, 3).
std::vector<double> exponentialBuckets(double start, double factor, int count);
/// 5, 10, 15 for (5, 5, 3).
std::vector<double> linearBuckets(double start, double width, int count);
/// From 5 ms to 10 s: for operations that take about as long as a request.
std::vector<double> defaultBuckets();

namespace detail {

class MetricFamilyBase {
 public:
  virtual ~MetricFamilyBase();
  virtual void appendTo(std::string& out, std::string_view name) const = 0;

  const std::string& help() const noexcept { return help_; }
  const std::vector<std::string>& labels() const noexcept { return labels_; }

 protected:
  MetricFamilyBase(std::string help, std::vector<std::string> labels)
      : help_(std::move(help)), labels_(std::move(labels)) {}
  // Throws Error unless there are as many values as labels.
  std::vector<std::string> keyOf(std::initializer_list<std::string_view> values) const;

 private:
  std::string help_;
  std::vector<std::string> labels_;
};

}  // namespace detail

/// All metrics of one name. M is Counter, Gauge or Histogram.
template <class M>
class MetricFamily final : public detail::MetricFamilyBase {
 public:
  MetricFamily(std::string help, std::vector<std::string> labels, std::function<M*()> make)
      : MetricFamilyBase(std::move(help), std::move(labels)), make_(std::move(make)) {}

  /// The metric with these label values, in the order of the labels. Throws Error unless there are
  /// as many values as labels.
  M& with(std::initializer_list<std::string_view> values = {});

  void appendTo(std::string& out, std::string_view name) const override;

 private:
  std::function<M*()> make_;
  mutable detail::Mutex metricsMutex_;
  std::map<std::vector<std::string>, std::unique_ptr<M>> metrics_ KUBE_GUARDED_BY(metricsMutex_);
};

class Metrics;

/// Keeps a function registered that is called before a registry is read. Once this is destroyed,
/// the function runs no more.
class [[nodiscard]] MetricUpdate {
 public:
  MetricUpdate() = default;
  MetricUpdate(MetricUpdate&& other) noexcept : metrics_(std::exchange(other.metrics_, nullptr)) {
    id_ = other.id_;
  }
  MetricUpdate& operator=(MetricUpdate&& other) noexcept {
    reset();
    metrics_ = std::exchange(other.metrics_, nullptr);
    id_ = other.id_;
    return *this;
  }
  ~MetricUpdate() { reset(); }
  void reset() noexcept;

 private:
  friend class Metrics;
  MetricUpdate(Metrics* metrics, std::uint64_t id) : metrics_(metrics), id_(id) {}

  Metrics* metrics_ = nullptr;
  std::uint64_t id_ = 0;
};

/// A registry. It must outlive all users of its metrics.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// Throw Error for a name that Prometheus does not accept, and if a family of another type or
  /// with other labels has the name.
  MetricFamily<Counter>& counters(std::string_view name, std::string_view help,
                                  std::vector<std::string> labels = {});
  MetricFamily<Gauge>& gauges(std::string_view name, std::string_view help,
                              std::vector<std::string> labels = {});
  MetricFamily<Histogram>& histograms(std::string_view name, std::string_view help,
                                      std::vector<std::string> labels = {},
                                      std::vector<double> bounds = defaultBuckets());

  /// A metric without labels.
  Counter& counter(std::string_view name, std::string_view help) {
    return counters(name, help).with();
  }
  Gauge& gauge(std::string_view name, std::string_view help) { return gauges(name, help).with(); }
  Histogram& histogram(std::string_view name, std::string_view help,
                       std::vector<double> bounds = defaultBuckets()) {
    return histograms(name, help, {}, std::move(bounds)).with();
  }

  /// For gauges that are computed only when the registry is read. The function may use metrics of
  /// the registry, but not the registry itself. Exceptions that it throws are logged.
  MetricUpdate beforeReading(std::function<void()> update);

  /// Prometheus' text format 0.0.4 (text/plain; version=0.0.4), ordered by name and label values.
  std::string text() const;

 private:
  friend class MetricUpdate;
  template <class M>
  MetricFamily<M>& family(std::string_view name, std::string_view help,
                          std::vector<std::string> labels, std::function<M*()> make);
  void forget(std::uint64_t id) noexcept;

  mutable detail::Mutex familiesMutex_;
  std::map<std::string, std::unique_ptr<detail::MetricFamilyBase>, std::less<>> families_
      KUBE_GUARDED_BY(familiesMutex_);
  mutable detail::Mutex updatesMutex_;  // held while updates run, so that none runs after forget()
  std::map<std::uint64_t, std::function<void()>> updates_ KUBE_GUARDED_BY(updatesMutex_);
  std::uint64_t lastUpdate_ KUBE_GUARDED_BY(updatesMutex_) = 0;
};

/// The registry of the process, the default everywhere. It lives until the process ends.
Metrics& defaultMetrics();
/// `metrics`, or the process's registry if that is null.
inline Metrics& orDefault(Metrics* metrics) {
  return metrics != nullptr ? *metrics : defaultMetrics();
}

}  // namespace kube
