#include "kube/base/metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <typeinfo>

#include "kube/base/error.h"
#include "kube/base/internal/guarded.h"

namespace kube {
namespace {

bool isName(std::string_view name, bool colons) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (colons && c == ':');
  });
}

// `quotes`: escape double quotes too, as label values require.
void appendExposed(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  return fmt::format("{}", value);
}

// Appends name{a="x",b="y"}, with one more label if `extraLabel` is not empty.
void appendSeries(std::string& out, std::string_view name, std::string_view suffix,
                  const std::vector<std::string>& labels, const std::vector<std::string>& values,
                  std::string_view extraLabel = {}, std::string_view extraValue = {}) {
  out.append(name).append(suffix);
  if (labels.empty() && extraLabel.empty()) {
    out += ' ';
    return;
  }
  char before = '{';
  const auto add = [&](std::string_view label, std::string_view value) {
    out += before;
    before = ',';
    out.append(label).append("=\"");
    appendExposed(out, value, true);
    out += '"';
  };
  for (std::size_t i = 0; i < labels.size(); ++i) add(labels[i], values[i]);
  if (!extraLabel.empty()) add(extraLabel, extraValue);
  out += "} ";
}

constexpr std::string_view typeName(const Counter*) { return "counter"; }
constexpr std::string_view typeName(const Gauge*) { return "gauge"; }
constexpr std::string_view typeName(const Histogram*) { return "histogram"; }

void appendMetric(std::string& out, std::string_view name, const std::vector<std::string>& labels,
                  const std::vector<std::string>& values, const Counter& counter) {
  appendSeries(out, name, {}, labels, values);
  out.append(fmt::format("{}\n", counter.value()));
}
void appendMetric(std::string& out, std::string_view name, const std::vector<std::string>& labels,
                  const std::vector<std::string>& values, const Gauge& gauge) {
  appendSeries(out, name, {}, labels, values);
  out.append(number(gauge.value())).append("\n");
}
void appendMetric(std::string& out, std::string_view name, const std::vector<std::string>& labels,
                  const std::vector<std::string>& values, const Histogram& histogram) {
  const std::vector<std::uint64_t> counts = histogram.counts();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const bool last = i + 1 == counts.size();
    appendSeries(out, name, "_bucket", labels, values, "le",
                 last ? "+Inf" : number(histogram.bounds()[i]));
    out.append(fmt::format("{}\n", total));
  }
  appendSeries(out, name, "_sum", labels, values);
  out.append(number(histogram.sum())).append("\n");
  appendSeries(out, name, "_count", labels, values);
  out.append(fmt::format("{}\n", total));
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)) {
  // The bucket without a bound always exists.
  if (!bounds_.empty() && bounds_.back() == std::numeric_limits<double>::infinity()) {
    bounds_.pop_back();
  }
  for (std::size_t i = 0; i < bounds_.size(); ++i) {
    if (!std::isfinite(bounds_[i]) || (i > 0 && bounds_[i] <= bounds_[i - 1])) {
      throw Error(fmt::format("histogram: bounds must be finite and ascend; bound {} is {}", i,
                              bounds_[i]));
    }
  }
  counts_ = std::make_unique<std::atomic<std::uint64_t>[]>(bounds_.size() + 1);
}

void Histogram::observe(double value) noexcept {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  // NaN goes into the bucket without a bound.
  const auto at = std::isnan(value) ? bounds_.size() : static_cast<std::size_t>(bucket);
  counts_[at].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::vector<std::uint64_t> Histogram::counts() const {
  std::vector<std::uint64_t> result(bounds_.size() + 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = counts_[i].load(std::memory_order_relaxed);
  }
  return result;
}

std::uint64_t Histogram::count() const noexcept {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
  }
  return total;
}

std::vector<double> exponentialBuckets(double start, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i) bounds.push_back(start * std::pow(factor, i));
  return bounds;
}

std::vector<double> linearBuckets(double start, double width, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i) bounds.push_back(start + width * i);
  return bounds;
}

std::vector<double> defaultBuckets() { return {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}; }

detail::MetricFamilyBase::~MetricFamilyBase() = default;

std::vector<std::string> detail::MetricFamilyBase::keyOf(
    std::initializer_list<std::string_view> values) const {
  if (values.size() != labels_.size()) {
    throw Error(fmt::format("metric ({}): has {} labels, but {} values were given", help_,
                            labels_.size(), values.size()));
  }
  return {values.begin(), values.end()};
}

template <class M>
M& MetricFamily<M>::with(std::initializer_list<std::string_view> values) {
  std::vector<std::string> key = keyOf(values);
  const detail::Lock lock(metricsMutex_);
  std::unique_ptr<M>& metric = metrics_[std::move(key)];
  if (!metric) metric.reset(make_());
  return *metric;
}

template <class M>
void MetricFamily<M>::appendTo(std::string& out, std::string_view name) const {
  out.append("# HELP ").append(name).append(" ");
  appendExposed(out, help(), false);
  out.append("\n# TYPE ").append(name).append(" ");
  out.append(typeName(static_cast<const M*>(nullptr))).append("\n");
  const detail::Lock lock(metricsMutex_);
  for (const auto& [values, metric] : metrics_) {
    appendMetric(out, name, labels(), values, *metric);
  }
}
template class MetricFamily<Counter>;
template class MetricFamily<Gauge>;
template class MetricFamily<Histogram>;

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

template <class M>
MetricFamily<M>& Metrics::family(std::string_view name, std::string_view help,
                                 std::vector<std::string> labels, std::function<M*()> make) {
  if (!isName(name, true)) throw Error(fmt::format("metric \"{}\": not a valid metric name", name));
  for (const std::string& label : labels) {
    if (!isName(label, false) || label.starts_with("__") || label == "le") {
      throw Error(fmt::format("metric \"{}\": \"{}\" is not a valid label name", name, label));
    }
  }
  const detail::Lock lock(familiesMutex_);
  const auto found = families_.find(name);
  if (found != families_.end()) {
    auto* same = dynamic_cast<MetricFamily<M>*>(found->second.get());
    if (same == nullptr || same->labels() != labels) {
      throw Error(
          fmt::format("metric \"{}\": exists already with another type or other labels", name));
    }
    return *same;
  }
  auto made =
      std::make_unique<MetricFamily<M>>(std::string(help), std::move(labels), std::move(make));
  MetricFamily<M>& result = *made;
  families_.emplace(name, std::move(made));
  return result;
}

MetricFamily<Counter>& Metrics::counters(std::string_view name, std::string_view help,
                                         std::vector<std::string> labels) {
  return family<Counter>(name, help, std::move(labels), [] { return new Counter; });
}

MetricFamily<Gauge>& Metrics::gauges(std::string_view name, std::string_view help,
                                     std::vector<std::string> labels) {
  return family<Gauge>(name, help, std::move(labels), [] { return new Gauge; });
}

MetricFamily<Histogram>& Metrics::histograms(std::string_view name, std::string_view help,
                                             std::vector<std::string> labels,
                                             std::vector<double> bounds) {
  const Histogram checked(bounds);
  return family<Histogram>(name, help, std::move(labels),
                           [bounds = std::move(bounds)] { return new Histogram(bounds); });
}

MetricUpdate Metrics::beforeReading(std::function<void()> update) {
  const detail::Lock lock(updatesMutex_);
  updates_.emplace(++lastUpdate_, std::move(update));
  return {this, lastUpdate_};
}

void Metrics::forget(std::uint64_t id) noexcept {
  const detail::Lock lock(updatesMutex_);
  updates_.erase(id);
}

void MetricUpdate::reset() noexcept {
  if (Metrics* metrics = std::exchange(metrics_, nullptr)) metrics->forget(id_);
}

std::string Metrics::text() const {
  {
    const detail::Lock lock(updatesMutex_);
    for (const auto& [id, update] : updates_) detail::guarded("metrics", "an update", update);
  }
  std::string out;
  const detail::Lock lock(familiesMutex_);
  for (const auto& [name, family] : families_) family->appendTo(out, name);
  return out;
}

Metrics& defaultMetrics() {
  // Never destroyed: objects of static storage may use it until the process ends.
  static Metrics* const metrics = new Metrics;
  return *metrics;
}

}  // namespace kube
