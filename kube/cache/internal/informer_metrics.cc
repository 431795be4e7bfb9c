#include "kube/cache/internal/informer_metrics.h"

#include <chrono>
#include <utility>

namespace kube::detail {

namespace {

Gauge& gauge(Metrics& metrics, std::string_view name, std::string_view help,
             std::string_view informer) {
  return metrics.gauges(name, help, {"name"}).with({informer});
}

Counter& counter(Metrics& metrics, std::string_view name, std::string_view help,
                 std::string_view informer) {
  return metrics.counters(name, help, {"name"}).with({informer});
}

template <class Number>
void change(Gauge& gauge, Number from, Number to) {
  if (from != to) gauge.add(static_cast<double>(to) - static_cast<double>(from));
}

}  // namespace

InformerMetrics::InformerMetrics(Metrics& metrics, std::string_view name,
                                 std::function<InformerStats()> stats)
    : objects_(gauge(metrics, "informer_objects", "Objects in the informer's cache.", name)),
      handlers_(gauge(metrics, "informer_handlers", "Handlers of the informer.", name)),
      pending_(gauge(metrics, "informer_pending_notifications",
                     "Notifications that wait for handlers.", name)),
      lag_(gauge(metrics, "informer_handler_lag_seconds",
                 "Age of the oldest notification that waits for its handler.", name)),
      handlerFailures_(counter(metrics, "informer_handler_failures_total",
                               "Exceptions that handlers have thrown.", name)),
      lists_(counter(metrics, "informer_lists_total",
                     "Lists of all objects; every one after the first is a relist.", name)),
      watches_(counter(metrics, "informer_watches_total",
                       "Watches started; every one after the first is a restart.", name)),
      events_(counter(metrics, "informer_events_total", "Changes received by watches.", name)),
      errors_(
          counter(metrics, "informer_errors_total", "Lists and watches that have failed.", name)),
      transformFailures_(
          counter(metrics, "informer_transform_failures_total",
                  "Objects and events that were left out because the transform threw.", name)),
      sharedBytes_(counter(metrics, "informer_shared_bytes_total",
                           "Received bytes that the cache held already, and shares.", name)),
      stats_(std::move(stats)),
      update_(metrics.beforeReading([this] { tell(stats_()); })) {}

InformerMetrics::~InformerMetrics() {
  update_.reset();
  InformerStats last = stats_();  // the counts stay; the gauges return to 0
  last.objects = last.handlers = last.pending = 0;
  last.lag = {};
  tell(last);
}

void InformerMetrics::tell(const InformerStats& now) {
  const auto seconds = [](Clock::Duration d) { return std::chrono::duration<double>(d).count(); };
  change(objects_, told_.objects, now.objects);
  change(handlers_, told_.handlers, now.handlers);
  change(pending_, told_.pending, now.pending);
  change(lag_, seconds(told_.lag), seconds(now.lag));
  handlerFailures_.add(now.handlerFailures - told_.handlerFailures);
  lists_.add(now.source.lists - told_.source.lists);
  watches_.add(now.source.watches - told_.source.watches);
  events_.add(now.source.events - told_.source.events);
  errors_.add(now.source.errors - told_.source.errors);
  transformFailures_.add(now.source.transformFailures - told_.source.transformFailures);
  sharedBytes_.add(now.source.sharedBytes - told_.source.sharedBytes);
  told_ = now;
}

}  // namespace kube::detail
