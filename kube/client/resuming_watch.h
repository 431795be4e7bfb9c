// A watch that outlives its connections: events from one version on, without a cache.
//
//   const auto list = pods.list();
//   kube::ResumingWatch<corev1::Pod> watch(pods, {.resourceVersion =
//   list.metadata.resourceVersion}); while (const auto event = watch.next(stop)) ...          //
//   ADDED, MODIFIED, DELETED
//
//   kube::AsyncResumingWatch<corev1::Pod> watch(pods.async(), {.resourceVersion = version});
//   while (true) {
//     const auto event = co_await watch.next();
//     ...
//   }
//
// When the watch ends or breaks, it goes on after the version that it has seen last; bookmarks,
// which it asks for and keeps to itself, keep that version young. While the server cannot be
// reached it tries again, with growing pauses. It cannot go on if the server has forgotten the
// version (isResourceExpired): then next() throws, and the program lists again. Unlike an informer,
// it leaves that to the program, which gets each event once and no state.
//
// Errors: next() throws the refusals of the server, such as 403. After an error it may be called
// again. The constructors throw Error for a version that names no state: "" and "0".
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kube/base/backoff.h"
#include "kube/base/task.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/resource_client.h"
#include "kube/client/wait.h"
#include "kube/meta/api_error.h"
#include "kube/meta/internal/object_access.h"

namespace kube {

struct ResumingWatchOptions {
  BackoffOptions backoff = detail::relistBackoff();
  Clock* clock = nullptr;  // null: the real clock
};

template <Described T>
class AsyncResumingWatch {
 public:
  AsyncResumingWatch(AsyncResourceClient<T> client, metav1::ListOptions options,
                     const ResumingWatchOptions& resuming = {})
      : client_(std::move(client)),
        options_(std::move(options)),
        clock_(orReal(resuming.clock)),
        backoff_(resuming.backoff, clock_) {
    if (options_.resourceVersion.empty() || options_.resourceVersion == "0") {
      throw Error("watch of " + client_.resource().plural +
                  ": to resume, it needs the resourceVersion of a list or an object");
    }
    options_.allowWatchBookmarks = true;
  }

  /// Waits for the next event. Throws CanceledError on a stop, and may be called again then. The
  /// watch outlives the task.
  Task<WatchEvent<T>> next() {
    for (;;) {
      try {
        if (!watch_) watch_ = co_await client_.watch(options_);
        auto event = co_await watch_->next();
        if (!event) {
          watch_.reset();
        } else if (event->type == EventType::Error) {
          watch_.reset();
          throw ApiError(event->status, "watch " + client_.resource().plural);
        } else {
          options_.resourceVersion = detail::resourceVersionOf(event->object);
          if (event->type != EventType::Bookmark) co_return std::move(*event);
          continue;
        }
      } catch (const CanceledError&) {
        throw;
      } catch (const ApiError& error) {
        watch_.reset();
        if (isResourceExpired(error) || isGone(error) || !detail::mayPass(error)) throw;
      } catch (const std::exception& error) {
        watch_.reset();
        if (!detail::mayPass(error)) throw;
      }
      const auto pause = backoff_.next();
      bool goOn = true;
      if (pause) goOn = co_await sleepFor(*pause, clock_);
      if (!goOn) throw CanceledError("watch of " + client_.resource().plural + ": canceled");
    }
  }

  /// The version of the last event, or the one that the watch began with: to go on from later.
  const String& resourceVersion() const noexcept { return options_.resourceVersion; }

 private:
  const AsyncResourceClient<T> client_;
  metav1::ListOptions options_;
  Clock& clock_;
  Backoff backoff_;
  std::optional<AsyncWatchStream<T>> watch_;
};

template <Described T>
class ResumingWatch {
 public:
  ResumingWatch(const ResourceClient<T>& client, metav1::ListOptions options,
                const ResumingWatchOptions& resuming = {})
      : watch_(client.async(), std::move(options), resuming) {}

  /// Waits for the next event; none on a stop.
  std::optional<WatchEvent<T>> next(const std::stop_token& stop = {}) {
    try {
      return detail::runBlocking(watch_.next(), stop);
    } catch (const CanceledError&) {
      if (!stop.stop_requested()) throw;
      return std::nullopt;
    }
  }
  const String& resourceVersion() const noexcept { return watch_.resourceVersion(); }

 private:
  AsyncResumingWatch<T> watch_;
};

}  // namespace kube
