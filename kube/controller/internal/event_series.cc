#include "kube/controller/internal/event_series.h"

#include <initializer_list>
#include <string_view>
#include <utility>

namespace kube {
namespace {

void append(std::string& key, const corev1::ObjectReference& object) {
  for (const String& part : {object.kind, object.namespace_, object.name, object.uid,
                             object.apiVersion, object.fieldPath}) {
    key.append(part).append(1, '\0');
  }
}

std::string seriesKey(const eventsv1::Event& event) {
  std::string key;
  for (const String& part : {event.type, event.action, event.reason, event.reportingController,
                             event.reportingInstance}) {
    key.append(part).append(1, '\0');
  }
  append(key, *event.regarding);
  append(key, *event.related);
  return key;
}

}  // namespace

EventSeriesCounter::EventSeriesCounter(Clock& clock, std::size_t capacity)
    : clock_(clock), seen_(capacity) {}

std::optional<EventSeriesCounter::Sending> EventSeriesCounter::observe(
    const eventsv1::Event& event) {
  std::string key = seriesKey(event);
  const auto now = clock_.now();
  Seen* seen = seen_.find(key);
  if (seen == nullptr) {
    if (auto gone = seen_.put(key, {event, now})) {
      const Seen& old = gone->second;
      if (old.event.series && old.event.series->count > old.sent) {
        evicted_.push_back(old.event);
      }
    }
    return Sending{event, std::move(key)};
  }
  seen->last = now;
  const bool isSecond = !seen->event.series;
  eventsv1::EventSeries& series = *seen->event.series;
  series.count = isSecond ? 2 : series.count + 1;
  series.lastObservedTime = MicroTime(clock_.wallNow());
  if (!isSecond) return std::nullopt;
  seen->sent = 2;
  return Sending{seen->event, std::move(key)};
}

std::vector<eventsv1::Event> EventSeriesCounter::finishBefore(Clock::TimePoint time) {
  std::vector<eventsv1::Event> over = std::exchange(evicted_, {});
  seen_.filter([&](const std::string&, Seen& seen) {
    if (seen.last >= time) return true;
    const eventsv1::Event& event = seen.event;
    if (event.series && event.series->count > seen.sent) over.push_back(event);
    return false;
  });
  return over;
}

std::vector<eventsv1::Event> EventSeriesCounter::finish() {
  return finishBefore(clock_.now() - kFinishAfter);
}

std::vector<eventsv1::Event> EventSeriesCounter::finishAll() {
  return finishBefore(Clock::TimePoint::max());
}

std::vector<eventsv1::Event> EventSeriesCounter::refresh() {
  std::vector<eventsv1::Event> all;
  seen_.filter([&](const std::string&, Seen& seen) {
    const eventsv1::Event& event = seen.event;
    if (event.series) {
      seen.sent = event.series->count;
      all.push_back(event);
    }
    return true;
  });
  return all;
}

}  // namespace kube
