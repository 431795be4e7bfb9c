// Telling users what a controller does, by events on the objects it does it to: what `kubectl
// describe` shows.
//
//   kube::EventRecorder events(clients.rest(), {.component = "network-controller"});
//   events.normal(network, "Configured", "configured {} subnets", subnets.size());
//   events.warning(network, "NoAddress", "no address is left in {}", network.spec->cidr);
//
// Recording never waits and never fails: events go to a bounded queue (when it is full, they are
// dropped and counted), and a thread sends them one after the other. Events that repeat are counted
// or made a series instead of being sent again, and programs that say too much about one object are
// cut short: see event_series.h and event_correlator.h. What the server refuses is logged and
// dropped; where it cannot be reached, an event is tried 12 times, 10 seconds apart.
//
// Destroying the recorder sends what is in the queue, for at most `flushTimeout`.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kube/api/core/v1.h"
#include "kube/base/clock.h"
#include "kube/base/map.h"
#include "kube/base/metrics.h"
#include "kube/controller/internal/event_correlator.h"
#include "kube/controller/object_reference.h"
#include "kube/rest/rest_client.h"

namespace kube {

inline constexpr std::string_view kEventNormal = "Normal";
inline constexpr std::string_view kEventWarning = "Warning";

enum class EventApi : std::uint8_t {
  Events,  // events.k8s.io/v1
  Core,    // v1, whose events are counted and aggregated
};

struct EventRecorderOptions {
  std::string component = {};  // who says it: "network-controller"
  std::string instance = {};   // which of them; empty: the host's name, after the component's
  EventApi api = EventApi::Events;
  std::size_t queueSize = 1000;
  std::chrono::nanoseconds retryPeriod = std::chrono::seconds{10};
  int maxTries = 12;
  std::chrono::nanoseconds flushTimeout = std::chrono::seconds{5};
  EventCorrelatorOptions correlation = {};
  Clock* clock = nullptr;      // null: the real one
  Metrics* metrics = nullptr;  // null: defaultMetrics()
};

/// All that an event may say.
struct EventFacts {
  corev1::ObjectReference regarding = {};
  corev1::ObjectReference related = {};  // something else that plays a part; mostly none
  String type = kEventNormal;
  String reason = {};  // short, in UpperCamelCase, for programs: "Scheduled"
  String action = {};  // what was done to the object; empty: the same as the reason
  std::string note = {};
  Map<String> annotations = {};
};

class EventRecorder {
 public:
  /// The connection is shared with whoever else uses it. Throws ConfigError for options that make
  /// no sense, such as no component.
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

  /// Waits until all that was recorded before is sent or given up. False: a stop was requested
  /// first.
  bool flush(const std::stop_token& stop = {});

  /// Takes no more events and sends what is in the queue, each once, for at most flushTimeout.
  void shutDown();

  /// How many events were lost since the queue was full.
  std::uint64_t dropped() const noexcept;

 private:
  class Sender;
  std::unique_ptr<Sender> sender_;
};

}  // namespace kube
