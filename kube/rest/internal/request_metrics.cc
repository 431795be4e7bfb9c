#include "kube/rest/internal/request_metrics.h"

#include <cstdint>
#include <utility>

namespace kube::detail {
namespace {

// The first is for attempts without an answer. Then the codes that occur, and the classes of all
// others.
constexpr std::array<std::string_view, RequestMetrics::kCodes> kCodeNames = {
    "<error>", "101", "200", "201", "202", "204", "206", "301", "302", "304", "307", "308",
    "400",     "401", "403", "404", "405", "406", "408", "409", "410", "413", "415", "422",
    "429",     "500", "501", "502", "503", "504", "1xx", "2xx", "3xx", "4xx", "5xx", "other"};
constexpr std::size_t kFirstClass = 30;
static_assert(kCodeNames[kFirstClass] == "1xx");

constexpr int kCodeEnd = 600;
constexpr auto kCodeIndex = [] {
  std::array<std::uint8_t, kCodeEnd> index{};
  for (std::size_t code = 0; code < index.size(); ++code) {
    index[code] = static_cast<std::uint8_t>(code < 100 ? kCodeNames.size() - 1
                                                       : kFirstClass + code / 100 - 1);
  }
  for (std::size_t i = 1; i < kFirstClass; ++i) {
    const std::string_view name = kCodeNames[i];
    index[static_cast<std::size_t>((name[0] - '0') * 100 + (name[1] - '0') * 10 + name[2] - '0')] =
        static_cast<std::uint8_t>(i);
  }
  index[0] = 0;
  return index;
}();

constexpr std::array<std::string_view, RequestMetrics::kMethods> kMethodNames = {
    "GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "other"};

std::vector<double> durations() { return {.005, .025, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60}; }
// From 64 bytes to 16 MB.
std::vector<double> sizes() {
  return {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
}

}  // namespace

RequestMetrics::RequestMetrics(Metrics& metrics, std::string host)
    : host_(std::move(host)),
      requests_(
          metrics.counters("rest_client_requests_total",
                           "Number of HTTP requests, partitioned by status code, method, and host.",
                           {"code", "method", "host"})),
      retries_(
          metrics.counters("rest_client_request_retries_total",
                           "Number of request retries, partitioned by status code, verb, and host.",
                           {"code", "verb", "host"})),
      duration_(metrics.histograms("rest_client_request_duration_seconds",
                                   "Request latency in seconds. Broken down by verb, and host.",
                                   {"verb", "host"}, durations())),
      requestSize_(metrics.histograms("rest_client_request_size_bytes",
                                      "Request size in bytes. Broken down by verb and host.",
                                      {"verb", "host"}, sizes())),
      responseSize_(metrics.histograms("rest_client_response_size_bytes",
                                       "Response size in bytes. Broken down by verb and host.",
                                       {"verb", "host"}, sizes())),
      limiterWait_(metrics.histograms(
          "rest_client_rate_limiter_duration_seconds",
          "Client side rate limiter latency in seconds. Broken down by verb, and host.",
          {"verb", "host"}, durations())) {}

RequestMetrics::~RequestMetrics() = default;

std::size_t RequestMetrics::indexOf(std::string_view method) noexcept {
  std::size_t index = 0;
  while (index + 1 < kMethods && kMethodNames[index] != method) ++index;
  return index;
}

std::size_t RequestMetrics::codeOf(int status) noexcept {
  return status >= 0 && status < kCodeEnd ? kCodeIndex[static_cast<std::size_t>(status)]
                                          : kCodeNames.size() - 1;
}

RequestMetrics::Series& RequestMetrics::make(std::size_t method) const {
  const std::string_view verb = kMethodNames[method];
  auto made = std::unique_ptr<Series>(new Series{.duration = duration_.with({verb, host_}),
                                                 .requestSize = requestSize_.with({verb, host_}),
                                                 .responseSize = responseSize_.with({verb, host_}),
                                                 .limiterWait = limiterWait_.with({verb, host_})});
  const Lock lock(ownedMutex_);
  if (Series* const other = series_[method].load(std::memory_order_relaxed)) return *other;
  Series& series = *made;
  owned_.push_back(std::move(made));
  series_[method].store(&series, std::memory_order_release);
  return series;
}

Counter& RequestMetrics::make(std::string_view method, Series& series, int status) const {
  const std::size_t code = codeOf(status);
  Counter& counter = requests_.with({kCodeNames[code], kMethodNames[indexOf(method)], host_});
  series.codes[code].store(&counter, std::memory_order_release);
  return counter;
}

void RequestMetrics::retried(std::string_view method, int status) const {
  retries_.with({kCodeNames[codeOf(status)], kMethodNames[indexOf(method)], host_}).add();
}

}  // namespace kube::detail
