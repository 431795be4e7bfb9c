// Tells users what a controller does, by events about its objects, which `kubectl describe` shows.
//
//   kube::EventRecorder events(clients.rest(), {.component = "network-controller"});
//   events.normal(network, "Configured", "configured {} subnets", subnets.size());
//   events.warning(network, "NoAddress", "no address is left in {}", network.spec->cidr);
//
// Recording never blocks and never fails: events go to a bounded queue, and a coroutine on
// TaskThreads sends them one after the other, so recorders have no threads of their own. While the
// queue is full, events are dropped and counted. Repeated events are counted or become a series
// instead of being sent again, and too many events about one object are dropped: see
// event_series.h and event_correlator.h. Events that the server refuses are logged and dropped.
// While the server cannot be reached, an event is tried 12 times, 10 seconds apart. While no thread
// can be had, events stay in the queue; each new one tries again.
//
// Destroying the recorder sends the events in the queue, for at most `flushTimeout`, and blocks
// meanwhile; coroutines await `async().shutDown()` first. It drops the events where it cannot wait:
// on an I/O thread of the library, or if no thread can be had.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/api/core/v1.h"
#include "kube/base/clock.h"
#include "kube/base/map.h"
#include "kube/base/metrics.h"
#include "kube/base/task.h"
#include "kube/controller/internal/event_correlator.h"
#include "kube/controller/object_reference.h"
#include "kube/rest/rest_client.h"

namespace kube {

inline constexpr std::string_view kEventNormal = "Normal";
inline constexpr std::string_view kEventWarning = "Warning";

enum class EventApi : std::uint8_t {
  Events,  // events.k8s.io/v1
  Core,    // v1; events are counted and aggregated
};

/// The content of an event.
struct EventFacts {
  corev1::ObjectReference regarding = {};
  corev1::ObjectReference related = {};  // another object involved; mostly none
  String type = kEventNormal;
  String reason = {};  // short, in UpperCamelCase, for programs: "Scheduled"
  String action = {};  // done to the object; empty: same as the reason
  std::string note = {};
  Map<String> annotations = {};
};

struct EventRecorderOptions {
  std::string component = {};  // the reporting program: "network-controller"
  std::string instance = {};   // its copy; empty: component and host name
  EventApi api = EventApi::Events;
  std::size_t queueSize = 1000;
  std::chrono::nanoseconds retryPeriod = std::chrono::seconds{10};
  int maxTries = 12;
  std::chrono::nanoseconds flushTimeout = std::chrono::seconds{5};
  EventCorrelatorOptions correlation = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
  /// Takes the events instead of the server, on the threads that record them; see
  /// testing::EventLog. An exception is logged.
  std::function<void(const EventFacts&)> sink = {};
};

namespace detail {
class EventSender;
}

/// The awaitable forms of an EventRecorder's methods, with the stop token of the tree. The recorder
/// may be destroyed meanwhile.
class AsyncEventRecorder {
 public:
  Task<bool> flush() const;
  /// A stop drops the events that are left, as the end of flushTimeout does.
  Task<void> shutDown() const;

 private:
  friend class EventRecorder;
  explicit AsyncEventRecorder(std::shared_ptr<detail::EventSender> sender)
      : sender_(std::move(sender)) {}

  std::shared_ptr<detail::EventSender> sender_;
};

class EventRecorder {
 public:
  /// Shares the connection of `rest`. Throws ConfigError for invalid options, such as an empty
  /// component.
  EventRecorder(const RestClient& rest, EventRecorderOptions options);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  template <Referenced T, class... Args>
  void normal(const T& about, std::string_view reason, fmt::format_string<Args...> note,
              Args&&... args) {
    record({.regarding = referenceTo(about),
            .reason = reason,
            .note = fmt::format(note, std::forward<Args>(args)...)});
  }
  template <Referenced T, class... Args>
  void warning(const T& about, std::string_view reason, fmt::format_string<Args...> note,
               Args&&... args) {
    record({.regarding = referenceTo(about),
            .type = kEventWarning,
            .reason = reason,
            .note = fmt::format(note, std::forward<Args>(args)...)});
  }
  void record(EventFacts facts);

  /// Waits until all events recorded so far are sent or given up. Returns false if a stop is
  /// requested first. Throws Error if no thread can be had, or on the library's I/O threads if
  /// there is something to wait for.
  bool flush(const std::stop_token& stop = {});

  /// Accepts no more events and sends those in the queue, each once, for at most flushTimeout.
  /// Drops those that are left.
  void shutDown();

  /// The awaitable forms of flush() and shutDown().
  AsyncEventRecorder async() const noexcept;

  /// The number of events that were dropped, because the queue was full or the recorder was shut
  /// down.
  std::uint64_t dropped() const noexcept;

 private:
  std::shared_ptr<detail::EventSender> sender_;
};

}  // namespace kube
