// Counts repeated events of events.k8s.io/v1. The first event is sent, the second makes it a
// series, and later ones are counted here. The count is sent every half hour, which keeps the event
// from expiring, and after six minutes without a new event, which ends the series. The numbers are
// client-go's.
//
// Two events belong to one series if they differ only in their time, their note, and the resource
// version of the object that they are about.
//
// Thread safety: none; the owner synchronizes calls.
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

  /// The clock must outlive the counter. Beyond `capacity` events, the least recent are forgotten.
  explicit EventSeriesCounter(Clock& clock = realClock(), std::size_t capacity = 4096);

  struct Sending {
    eventsv1::Event event;
    std::string key;
  };
  /// Returns the event to send, if any: this event, or the first of its kind, now with a series.
  std::optional<Sending> observe(const eventsv1::Event& event);

  /// Forgets an event that was not sent after all: the next one counts as the first.
  void forget(const std::string& key) { seen_.erase(key); }

  /// Forgets series that are over, and returns those with a count that was not sent yet.
  std::vector<eventsv1::Event> finish();
  /// The same, as if every series were over.
  std::vector<eventsv1::Event> finishAll();
  /// Returns all series that have not ended, to be sent again.
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
  std::vector<eventsv1::Event> evicted_;  // forgotten series with counts to be sent
};

}  // namespace kube
