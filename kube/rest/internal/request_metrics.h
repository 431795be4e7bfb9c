// Counts requests to a server, under the names of client-go and component-base.
//
// The label values are few, whatever a server answers: rare status codes are counted by class
// ("4xx"), and unknown methods as "other". A series is looked up once; after that, counting costs
// atomic operations only.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/metrics.h"

namespace kube::detail {

class RequestMetrics {
 public:
  static constexpr std::size_t kMethods = 7;
  static constexpr std::size_t kCodes = 36;

  /// The series of one method.
  struct Series {
    Histogram& duration;
    Histogram& requestSize;
    Histogram& responseSize;
    Histogram& limiterWait;
    std::array<std::atomic<Counter*>, kCodes> codes = {};
  };

  RequestMetrics(Metrics& metrics, std::string host);
  ~RequestMetrics();

  Series& of(std::string_view method) const {
    const std::size_t index = indexOf(method);
    Series* const found = series_[index].load(std::memory_order_acquire);
    return found != nullptr ? *found : make(index);
  }

  /// Counts an answer; 0: there was none.
  void answered(std::string_view method, Series& series, int status) const {
    Counter* const counter = series.codes[codeOf(status)].load(std::memory_order_acquire);
    (counter != nullptr ? *counter : make(method, series, status)).add();
  }
  /// Counts an attempt that is followed by another one.
  void retried(std::string_view method, int status) const;

 private:
  static std::size_t indexOf(std::string_view method) noexcept;
  static std::size_t codeOf(int status) noexcept;
  Series& make(std::size_t method) const;
  Counter& make(std::string_view method, Series& series, int status) const;

  const std::string host_;
  MetricFamily<Counter>& requests_;
  MetricFamily<Counter>& retries_;
  MetricFamily<Histogram>& duration_;
  MetricFamily<Histogram>& requestSize_;
  MetricFamily<Histogram>& responseSize_;
  MetricFamily<Histogram>& limiterWait_;
  mutable std::array<std::atomic<Series*>, kMethods> series_ = {};
  mutable Mutex ownedMutex_;
  mutable std::vector<std::unique_ptr<Series>> owned_ KUBE_GUARDED_BY(ownedMutex_);
};

}  // namespace kube::detail
