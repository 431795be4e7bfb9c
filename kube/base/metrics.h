// What a program counts and measures, for Prometheus to read.
//
//   Metrics& metrics = defaultMetrics();
//   MetricFamily<Counter>& sent =
//       metrics.counters("rest_client_requests_total", "Requests sent.", {"code", "method"});
//   sent.with({"200", "GET"}).add();
//
//   Histogram& took = defaultMetrics().histogram("sync_seconds", "How long syncs take.",
//                                                exponentialBuckets(0.001, 2, 12));
//   took.observe(0.25);
//   std::string page = defaultMetrics().text();   // what /metrics answers
//
// A family has a name and the names of its labels; each combination of their values is a metric of
// its own, made when first asked for. Metrics are never removed, so a reference to one is good as
// long as its registry, and whoever writes often keeps it: writing is one or two relaxed atomic
// operations, finding a metric by its labels takes a lock. Keep label values few.
//
// Asking a registry for a family that it has gives that one, whatever the help.
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

/// Only ever goes up.
class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// Goes up and down.
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
  /// A bucket holds what is up to its bound, and not in one before it; bounds ascend. Throws Error
  /// otherwise.
  explicit Histogram(std::vector<double> bounds);

  void observe(double value) noexcept;

  const std::vector<double>& bounds() const noexcept { return bounds_; }
  /// How many values are in each bucket; the last is for those above all bounds.
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
/// From 5 ms to 10 s: for what takes about as long as a request.
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
  // Throws Error where these are not as many values as there are labels.
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

  /// The metric of these label values, given in the order of the labels. Throws Error where they
  /// are not as many.
  M& with(std::initializer_list<std::string_view> values = {});

  void appendTo(std::string& out, std::string_view name) const override;

 private:
  std::function<M*()> make_;
  mutable detail::Mutex metricsMutex_;
  std::map<std::vector<std::string>, std::unique_ptr<M>> metrics_ KUBE_GUARDED_BY(metricsMutex_);
};

class Metrics;

/// Keeps a function called before a registry is read, until destroyed; then it runs no more.
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

/// A registry. It outlives whoever holds its metrics.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Throw Error for a name that Prometheus does not take, and where the name is taken by a family
  // of another type or with other labels.
  MetricFamily<Counter>& counters(std::string_view name, std::string_view help,
                                  std::vector<std::string> labels = {});
  MetricFamily<Gauge>& gauges(std::string_view name, std::string_view help,
                              std::vector<std::string> labels = {});
  MetricFamily<Histogram>& histograms(std::string_view name, std::string_view help,
                                      std::vector<std::string> labels = {},
                                      std::vector<double> bounds = defaultBuckets());

  // A metric without labels.
  Counter& counter(std::string_view name, std::string_view help) {
    return counters(name, help).with();
  }
  Gauge& gauge(std::string_view name, std::string_view help) { return gauges(name, help).with(); }
  Histogram& histogram(std::string_view name, std::string_view help,
                       std::vector<double> bounds = defaultBuckets()) {
    return histograms(name, help, {}, std::move(bounds)).with();
  }

  /// For gauges that are only worth computing when somebody looks. The function must not use the
  /// registry itself, only metrics of it; what it throws is logged.
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
  mutable detail::Mutex updatesMutex_;  // held while they run, so that none runs after forget()
  std::map<std::uint64_t, std::function<void()>> updates_ KUBE_GUARDED_BY(updatesMutex_);
  std::uint64_t lastUpdate_ KUBE_GUARDED_BY(updatesMutex_) = 0;
};

/// The process' own, which everything uses that is given no other. It lives until the process ends.
Metrics& defaultMetrics();
/// `metrics`, or the program's own where that is null.
inline Metrics& orDefault(Metrics* metrics) {
  return metrics != nullptr ? *metrics : defaultMetrics();
}

}  // namespace kube
