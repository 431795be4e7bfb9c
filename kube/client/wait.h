// Waits until an object fulfils a condition.
//
//   auto ready = kube::waitFor<corev1::Pod>(pods, "web", [](const corev1::Pod* pod) {
//     return pod != nullptr && pod->status->phase == "Running";
//   }, 1min, stop);
//   kube::waitFor<corev1::Pod>(pods, "web", [](auto* pod) { return pod == nullptr; });   // removed
//
// It lists, then watches from there; nothing is polled. When a watch ends or is too old, it lists
// again.
//
// Thread safety: any number of threads may wait with one client.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "kube/base/backoff.h"
#include "kube/client/resource_client.h"

namespace kube {

/// Returns the object for which the condition was true, or none if it was true without an object.
/// The condition is called with the object, or null if it does not exist. Throws TimeoutError when
/// the time is over (0: never), CanceledError on a stop.
template <Described T, class Condition>
std::optional<T> waitFor(const ResourceClient<T>& client, std::string_view name,
                         Condition condition, std::chrono::nanoseconds timeout = {},
                         const std::stop_token& stop = {}) {
  Clock& clock = realClock();
  const auto deadline = timeout.count() > 0 ? clock.deadlineAfter(timeout) : Clock::noDeadline;
  Backoff backoff({.initial = std::chrono::milliseconds{100},
                   .cap = std::chrono::seconds{10},
                   .jitter = 0.2,
                   .resetAfter = std::chrono::seconds{30}},
                  clock);
  metav1::ListOptions options;
  options.fieldSelector = "metadata.name=" + std::string(name);
  for (;;) {
    if (stop.stop_requested())
      throw CanceledError("wait for \"" + std::string(name) + "\": canceled");
    const ObjectList<T> found = client.list(options, stop);
    const T* object = found.items.empty() ? nullptr : &found.items[0];
    if (condition(object)) return object != nullptr ? std::optional<T>(*object) : std::nullopt;

    metav1::ListOptions from = options;
    from.resourceVersion = found.metadata.resourceVersion;
    if (deadline != Clock::noDeadline) {
      const auto left = deadline - clock.now();
      if (left <= Clock::Duration{}) {
        throw TimeoutError("wait for \"" + std::string(name) +
                           "\": the condition did not become true in time");
      }
      from.timeoutSeconds = std::chrono::ceil<std::chrono::seconds>(left).count();
    }
    for (const WatchEvent<T>& event : client.watch(std::move(from), stop)) {
      if (clock.now() >= deadline) break;
      if (event.type == EventType::Error) break;  // mostly because the version is too old
      if (event.type == EventType::Bookmark) continue;
      const T* now = event.type == EventType::Deleted ? nullptr : &event.object;
      if (condition(now)) return now != nullptr ? std::optional<T>(*now) : std::nullopt;
    }
    backoff.sleep(stop);
  }
}

}  // namespace kube
