// Waits until an object, or several, fulfil a condition.
//
//   auto ready = kube::waitFor(pods, "web", kube::conditions::podReady, 1min, stop);
//   kube::waitFor(pods, "web", [](const corev1::Pod* pod) { return pod == nullptr; });  // removed
//   kube::waitForObjects(pods, {.labelSelector = "app=web"},
//                        kube::conditions::every(kube::conditions::podReady), {.timeout = 1min});
//
// kube/client/conditions.h has conditions for many kinds. With an awaitable client, it is a task:
// co_await kube::waitFor(pods.async(), "web", ready).
//
// It lists, then watches from there; nothing is polled. When a watch ends, breaks or is too old, it
// lists again, and goes on if the server cannot be reached for a while. Errors of the first list,
// and refusals, are thrown. To wait on an informer's cache, see kube/cache/wait_for_cached.h.
//
// Thread safety: any number of threads may wait with one client.
#pragma once

#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/backoff.h"
#include "kube/base/internal/task_call.h"
#include "kube/base/task.h"
#include "kube/base/when.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/resource_client.h"
#include "kube/meta/internal/object_access.h"
#include "kube/meta/object_key.h"

namespace kube {

struct WaitOptions {
  std::chrono::nanoseconds timeout = {};  // 0: no limit
  Clock* clock = nullptr;                 // null: the real clock
};

template <Described T>
using ObjectsByKey = std::map<ObjectKey, T>;

namespace detail {

/// True for an error after which a later request may succeed: the server cannot be reached, or is
/// overloaded; a version is too old.
bool mayPass(const std::exception& error) noexcept;

/// The pauses between two lists or watches.
BackoffOptions relistBackoff();

template <Described T, class Condition>
Task<ObjectsByKey<T>> watchUntil(AsyncResourceClient<T> client, metav1::ListOptions which,
                                 Condition condition, Clock& clock) {
  Backoff backoff(relistBackoff(), clock);
  bool listed = false;
  bool asking = false;
  ObjectsByKey<T> objects;
  for (;;) {
    try {
      ObjectList<T> found = co_await client.list(which);
      listed = true;
      objects.clear();
      for (T& item : found.items) objects.insert_or_assign(keyOf(item), std::move(item));
      asking = true;
      const auto holds = static_cast<bool>(co_await callTask(condition, &objects));
      asking = false;
      if (holds) co_return objects;

      metav1::ListOptions from = which;
      from.resourceVersion = found.metadata.resourceVersion;
      AsyncWatchStream<T> watch = co_await client.watch(from);
      for (;;) {
        auto event = co_await watch.next();
        if (!event || event->type == EventType::Error) break;  // mostly: the version is too old
        if (event->type == EventType::Bookmark) continue;
        const ObjectKey key = keyOf(event->object);
        if (event->type == EventType::Deleted) {
          objects.erase(key);
        } else {
          objects.insert_or_assign(key, std::move(event->object));
        }
        asking = true;
        const auto holdsNow = static_cast<bool>(co_await callTask(condition, &objects));
        asking = false;
        if (holdsNow) co_return objects;
      }
    } catch (const std::exception& error) {
      if (!listed || asking || !mayPass(error)) throw;
    }
    const auto pause = backoff.next();
    co_await sleepFor(*pause, clock);
  }
}

/// The wait with its limit of time; its errors name it.
template <class T>
Task<T> limitedWait(std::string what, Task<T> wait, WaitOptions options) {
  Clock& clock = orReal(options.clock);
  const bool limited = options.timeout.count() > 0;
  const auto deadline = limited ? clock.deadlineAfter(options.timeout) : Clock::noDeadline;
  const std::stop_token stop = co_await taskStop();
  try {
    if (!limited) co_return co_await std::move(wait);
    co_return co_await within(options.timeout, std::move(wait), clock);
  } catch (const CanceledError&) {
    if (!stop.stop_requested()) throw;
  } catch (const TimeoutError&) {
    if (!limited || clock.now() < deadline) throw;
    throw TimeoutError(what + ": the condition did not become true in time");
  }
  throw CanceledError(what + ": canceled");
}

template <Described T, class Condition>
Task<std::optional<T>> waitForOne(AsyncResourceClient<T> client, std::string name,
                                  Condition condition, Clock& clock) {
  metav1::ListOptions which;
  which.fieldSelector = "metadata.name=" + name;
  const auto ofOne = [&](const ObjectsByKey<T>* objects) {
    const T* object = objects->empty() ? nullptr : &objects->begin()->second;
    return callTask(condition, object);
  };
  ObjectsByKey<T> found = co_await watchUntil(client, which, ofOne, clock);
  if (found.empty()) co_return std::nullopt;
  co_return std::move(found.begin()->second);
}

template <Described T, class Condition>
Task<ObjectsByKey<T>> waitForMany(AsyncResourceClient<T> client, metav1::ListOptions which,
                                  Condition condition, Clock& clock) {
  const auto ofAll = [&](const ObjectsByKey<T>* objects) {
    return callTask<Condition, const ObjectsByKey<T>&>(condition, *objects);
  };
  co_return co_await watchUntil(client, which, ofAll, clock);
}

}  // namespace detail

/// Returns the object for which the condition was true, or none if it was true without an object.
/// The condition is called with the object, or null if it does not exist. Throws TimeoutError when
/// the time is over, CanceledError on a stop. The condition may return a task.
template <Described T, class Condition>
Task<std::optional<T>> waitFor(const AsyncResourceClient<T>& client, std::string_view name,
                               Condition condition, const WaitOptions& options) {
  return detail::limitedWait(
      "wait for \"" + std::string(name) + "\"",
      detail::waitForOne(client, std::string(name), std::move(condition), orReal(options.clock)),
      options);
}
template <Described T, class Condition>
std::optional<T> waitFor(const ResourceClient<T>& client, std::string_view name,
                         Condition condition, const WaitOptions& options,
                         const std::stop_token& stop = {}) {
  return detail::runBlocking(waitFor(client.async(), name, std::move(condition), options), stop);
}
template <Described T, class Condition>
Task<std::optional<T>> waitFor(const AsyncResourceClient<T>& client, std::string_view name,
                               Condition condition, std::chrono::nanoseconds timeout = {}) {
  return waitFor(client, name, std::move(condition), WaitOptions{.timeout = timeout});
}
template <Described T, class Condition>
std::optional<T> waitFor(const ResourceClient<T>& client, std::string_view name,
                         Condition condition, std::chrono::nanoseconds timeout = {},
                         const std::stop_token& stop = {}) {
  return waitFor(client, name, std::move(condition), WaitOptions{.timeout = timeout}, stop);
}

/// The same for all objects that the selectors of `which` select: the condition is called with them
/// by their keys, and they are returned.
template <Described T, class Condition>
Task<ObjectsByKey<T>> waitForObjects(const AsyncResourceClient<T>& client,
                                     const metav1::ListOptions& which, Condition condition,
                                     const WaitOptions& options = WaitOptions()) {
  return detail::limitedWait(
      "wait for " + client.resource().plural,
      detail::waitForMany(client, which, std::move(condition), orReal(options.clock)), options);
}
template <Described T, class Condition>
ObjectsByKey<T> waitForObjects(const ResourceClient<T>& client, const metav1::ListOptions& which,
                               Condition condition, const WaitOptions& options = WaitOptions(),
                               const std::stop_token& stop = {}) {
  return detail::runBlocking(waitForObjects(client.async(), which, std::move(condition), options),
                             stop);
}

}  // namespace kube
