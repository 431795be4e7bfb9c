// What keeps a program that repeats itself from flooding the server with events of core v1.
//
// The same event again is counted on the first one. From the tenth event on that differs in nothing
// but its message, within ten minutes, they become one whose message says so. And about one object
// a source may say 25 things at once, then one in five minutes: the rest is dropped. The numbers
// are client-go's.
//
// Memory is bounded: of more than 4096 different events, those not seen for long are forgotten.
//
// Thread safety: none, that is its owner's.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_set>

#include "kube/api/core/v1.h"
#include "kube/base/clock.h"
#include "kube/base/internal/lru_map.h"
#include "kube/base/rate_limiter.h"

namespace kube {

struct EventCorrelatorOptions {
  std::size_t cacheSize = 4096;
  int spamBurst = 25;
  double spamQps = 1.0 / 300;
  std::size_t maxSimilarEvents = 10;
  std::chrono::seconds similarInterval = std::chrono::minutes{10};
};

namespace detail {

/// Which events about which objects go through.
class EventSpamFilter {
 public:
  EventSpamFilter(const EventCorrelatorOptions& options, Clock& clock);
  /// Whether the next one may; if so, it counts.
  bool accepts(const std::string& key);

 private:
  TokenBucketOptions rate_;
  Clock& clock_;
  LruMap<std::string, std::unique_ptr<TokenBucket>> buckets_;
};

}  // namespace detail

class EventCorrelator {
 public:
  /// The clock outlives it. Throws ConfigError for a rate that lets nothing through.
  explicit EventCorrelator(const EventCorrelatorOptions& options = {}, Clock& clock = realClock());

  struct Result {
    bool skip = false;  // nothing is to be sent
    corev1::Event event = {};
    std::string patch = {};  // what brings the event on the server up to date; empty: it is new
    std::string key = {};
  };
  Result correlate(const corev1::Event& event);

  /// The server has written it: under this name it can be counted on.
  void written(const std::string& key, const corev1::Event& event);

 private:
  struct Similar {
    std::unordered_set<std::size_t> messages;  // their hashes
    Clock::TimePoint last;
  };
  struct Observed {
    std::int32_t count;
    Time firstTimestamp;
    String name;
  };

  // The event, or that which stands for many like it, and the key to count it under.
  std::pair<corev1::Event, std::string> aggregate(const corev1::Event& event);

  EventCorrelatorOptions options_;
  Clock& clock_;
  LruMap<std::string, Similar> similar_;
  LruMap<std::string, Observed> observed_;
  detail::EventSpamFilter spam_;
};

}  // namespace kube
