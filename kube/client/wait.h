// Waits until an object fulfils a condition.
//
//   auto ready = kube::waitFor<corev1::Pod>(pods, "web", [](const corev1::Pod* pod) {
//     return pod != nullptr && pod->status->phase == "Running";
//   }, 1min, stop);
//   kube::waitFor<corev1::Pod>(pods, "web", [](auto* pod) { return pod == nullptr; });   // removed
//
// With an awaitable client, it is a task: co_await kube::waitFor(pods.async(), "web", ready).
//
// It lists, then watches from there; nothing is polled. When a watch ends or is too old, it lists
// again.
//
// Thread safety: any number of threads may wait with one client.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/backoff.h"
#include "kube/base/internal/task_call.h"
#include "kube/base/task.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/resource_client.h"

namespace kube {

namespace detail {

template <Described T, class Condition>
Task<std::optional<T>> waitTask(AsyncResourceClient<T> client, std::string name,
                                Condition condition, std::chrono::nanoseconds timeout) {
  Clock& clock = realClock();
  const auto deadline = timeout.count() > 0 ? clock.deadlineAfter(timeout) : Clock::noDeadline;
  Backoff backoff({.initial = std::chrono::milliseconds{100},
                   .cap = std::chrono::seconds{10},
                   .jitter = 0.2,
                   .resetAfter = std::chrono::seconds{30}},
                  clock);
  metav1::ListOptions options;
  options.fieldSelector = "metadata.name=" + name;
  for (;;) {
    const ObjectList<T> found = co_await client.list(options);
    const T* object = found.items.empty() ? nullptr : &found.items[0];
    const auto holds = static_cast<bool>(co_await callTask(condition, object));
    if (holds) co_return object != nullptr ? std::optional<T>(*object) : std::nullopt;

    metav1::ListOptions from = options;
    from.resourceVersion = found.metadata.resourceVersion;
    if (deadline != Clock::noDeadline) {
      const auto left = deadline - clock.now();
      if (left <= Clock::Duration{}) {
        throw TimeoutError("wait for \"" + name + "\": the condition did not become true in time");
      }
      from.timeoutSeconds = std::chrono::ceil<std::chrono::seconds>(left).count();
    }
    AsyncWatchStream<T> watch = co_await client.watch(from);
    for (;;) {
      const auto event = co_await watch.next();
      if (!event || clock.now() >= deadline) break;
      if (event->type == EventType::Error) break;  // mostly because the version is too old
      if (event->type == EventType::Bookmark) continue;
      const T* now = event->type == EventType::Deleted ? nullptr : &event->object;
      const auto holdsNow = static_cast<bool>(co_await callTask(condition, now));
      if (holdsNow) co_return now != nullptr ? std::optional<T>(*now) : std::nullopt;
    }
    const auto pause = backoff.next();
    co_await sleepFor(*pause, clock);
  }
}

/// Names the wait if a stop ends it.
template <class T>
Task<T> namedWait(std::string name, Task<T> wait) {
  const std::stop_token stop = co_await taskStop();
  try {
    co_return co_await std::move(wait);
  } catch (const CanceledError&) {
    if (!stop.stop_requested()) throw;
  }
  throw CanceledError("wait for \"" + name + "\": canceled");
}

}  // namespace detail

/// Returns the object for which the condition was true, or none if it was true without an object.
/// The condition is called with the object, or null if it does not exist. Throws TimeoutError when
/// the time is over (0: never), CanceledError on a stop. The condition may return a task.
template <Described T, class Condition>
Task<std::optional<T>> waitFor(const AsyncResourceClient<T>& client, std::string_view name,
                               Condition condition, std::chrono::nanoseconds timeout = {}) {
  return detail::namedWait(std::string(name), detail::waitTask(client, std::string(name),
                                                               std::move(condition), timeout));
}
template <Described T, class Condition>
std::optional<T> waitFor(const ResourceClient<T>& client, std::string_view name,
                         Condition condition, std::chrono::nanoseconds timeout = {},
                         const std::stop_token& stop = {}) {
  return detail::runBlocking(waitFor(client.async(), name, std::move(condition), timeout), stop);
}

}  // namespace kube
