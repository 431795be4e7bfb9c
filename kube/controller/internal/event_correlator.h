// Keeps a program that repeats itself from flooding the server with events of core v1.
//
// A repeated event increases the count of the first one. Events that differ only in their message,
// each within ten minutes of the one before, become one event from the tenth on, and its message
// says so. About one object, a source may send 25 events at once, then one in five minutes; the
// rest is dropped. The numbers are client-go's.
//
// Memory is bounded: beyond 4096 different events, the least recently seen are forgotten.
//
// Thread safety: none; the owner synchronizes calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
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

  // Functions that replace these rules for events of core v1. An empty one leaves the rule as it
  // is; one that throws loses the event, which is logged. One thread at a time calls them.

  /// Events with the same `group` are similar, and become one if there are too many with different
  /// `member`s. Default: all but the message, and the message.
  struct SimilarKey {
    std::string group = {}, member = {};
  };
  std::function<SimilarKey(const corev1::Event&)> similarKey = {};
  /// The message of the event that stands for many similar ones.
  std::function<std::string(const corev1::Event&)> combinedMessage = {};
  /// Events with the same key share spamBurst and spamQps. Default: source, object and type.
  std::function<std::string(const corev1::Event&)> spamKey = {};
  /// Returns true for an event that is not to be sent, beside those that are too many.
  std::function<bool(const corev1::Event&)> skip = {};
};

namespace detail {

/// Limits the rate of events about one object.
class EventSpamFilter {
 public:
  EventSpamFilter(const EventCorrelatorOptions& options, Clock& clock);
  /// Returns whether the next event may be sent; if so, it counts.
  bool accepts(const std::string& key);

 private:
  TokenBucketOptions rate_;
  Clock& clock_;
  LruMap<std::string, std::unique_ptr<TokenBucket>> buckets_;
};

}  // namespace detail

class EventCorrelator {
 public:
  /// The clock must outlive the correlator. Throws ConfigError for a rate that lets no event
  /// through.
  explicit EventCorrelator(const EventCorrelatorOptions& options = {}, Clock& clock = realClock());

  struct Result {
    bool skip = false;  // the event must not be sent
    corev1::Event event = {};
    std::string patch = {};  // updates the event on the server; empty: the event is new
    std::string key = {};
  };
  Result correlate(const corev1::Event& event);

  /// Remembers an event as the server has stored it: later ones are counted under its name.
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

  // Returns the event, or the combined event for many like it, and the key to count it under.
  std::pair<corev1::Event, std::string> aggregate(const corev1::Event& event);

  EventCorrelatorOptions options_;
  Clock& clock_;
  LruMap<std::string, Similar> similar_;
  LruMap<std::string, Observed> observed_;
  detail::EventSpamFilter spam_;
};

}  // namespace kube
