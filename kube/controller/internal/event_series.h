// Events of events.k8s.io/v1 that repeat: the first is sent, the second makes a series of it, and
// from then on they are counted here. What has been counted is sent every half hour, which keeps
// the event from expiring, and when nothing was added for six minutes, which ends the series. The
// numbers are client-go's.
//
// Two events are of one series when they differ in nothing but time, note and the resource version
// of what they are about.
//
// Thread safety: none, that is its owner's.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kube/api/events/v1.h"
#include "kube/base/clock.h"
#include "kube/base/internal/lru_map.h"

namespace kube {

class EventSeriesCounter {
 public:
  static constexpr std::chrono::minutes kFinishAfter{6};
  static constexpr std::chrono::minutes kRefreshEvery{30};

  /// The clock outlives it. Of more events than this at a time, the least recent are forgotten.
  explicit EventSeriesCounter(Clock& clock = realClock(), std::size_t capacity = 4096);

  struct Sending {
    eventsv1::Event event;
    std::string key;
  };
  /// What is to be sent for this event, if anything: it as it is, or the first of its kind, now
  /// with a series.
  std::optional<Sending> observe(const eventsv1::Event& event);

  /// It was not sent after all: the next one is as the first.
  void forget(const std::string& key) { seen_.erase(key); }

  /// Forgets what is over, and returns the series that were counted on since they were sent last.
  std::vector<eventsv1::Event> finish();
  /// The same, with everything taken for over.
  std::vector<eventsv1::Event> finishAll();
  /// All series that go on.
  std::vector<eventsv1::Event> refresh();

  std::size_t size() const noexcept { return seen_.size(); }

 private:
  struct Seen {
    eventsv1::Event event;
    Clock::TimePoint last;
    std::int32_t sent = 1;  // the count that was sent last
  };
  std::vector<eventsv1::Event> finishBefore(Clock::TimePoint time);

  Clock& clock_;
  LruMap<std::string, Seen> seen_;
  std::vector<eventsv1::Event> evicted_;  // series that had to go, with counts to be sent
};

}  // namespace kube
