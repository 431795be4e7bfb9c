// The events of a watch, as they arrive.
//
//   for (const auto& event : clients.coreV1().pods("book").watch({}, stop))
//     std::cout << event.type << ' ' << event.object.metadata.name << '\n';
//
// The stream ends when a stop is requested, when the request's time is over, and when the server
// closes it, as servers do every few minutes. To continue, watch again from the last
// resourceVersion seen (an informer does all of that). A broken connection is a TransportError, a
// malformed frame a DecodeError. An error sent by the server, such as an expired resourceVersion,
// is an event with its Status, and usually the last.
//
// Thread safety: one thread at a time. A stop may be requested on any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/task.h"
#include "kube/codec/stream.h"
#include "kube/http/transport.h"

namespace kube {

namespace detail {

/// A watch without the C++ type of its objects: decoded events go to the sink.
class WatchReader {
 public:
  WatchReader(HttpStream stream, std::stop_token stop, const TypeInfo& type, Pool* pool,
              ObjectSink& sink)
      : stream_(std::move(stream)),
        stop_(std::move(stop)),
        decoder_(ObjectStream::Mode::Watch, type, {.pool = pool}, sink) {}

  /// Waits for data. Returns false when the watch has ended. An exception is thrown after all
  /// events that were read before it.
  Task<bool> read();
  const std::stop_token& stop() const noexcept { return stop_; }

 private:
  HttpStream stream_;
  std::stop_token stop_;
  ObjectStream decoder_;
  bool over_ = false;
  std::exception_ptr error_;
};

/// A watch and its events that were not taken yet.
template <class T>
struct WatchState {
  WatchState(HttpStream stream, std::stop_token stop, Pool* pool)
      : collector([this](WatchEvent<T>&& event) { events.push_back(std::move(event)); }),
        reader(std::move(stream), std::move(stop), TypeOf<T>::info, pool, collector) {}

  WatchEvent<T> take() {
    WatchEvent<T> event = std::move(events.front());
    events.pop_front();
    return event;
  }

  std::deque<WatchEvent<T>> events;
  EventCollector<MakeWatchEvent<T>> collector;
  WatchReader reader;
};

}  // namespace detail

template <Described T>
class WatchStream {
 public:
  WatchStream(HttpStream stream, std::stop_token stop, Pool* pool = nullptr)
      : state_(std::make_unique<detail::WatchState<T>>(std::move(stream), std::move(stop), pool)) {}

  /// Waits for the next event; none when the watch has ended.
  std::optional<WatchEvent<T>> next() {
    detail::WatchState<T>& state = *state_;
    while (state.events.empty()) {
      if (!detail::runBlocking(state.reader.read(), state.reader.stop())) return std::nullopt;
    }
    return state.take();
  }

  /// A single-pass iterator.
  class Iterator {
   public:
    using value_type = WatchEvent<T>;
    using difference_type = std::ptrdiff_t;

    const WatchEvent<T>& operator*() const { return *event_; }
    const WatchEvent<T>* operator->() const { return &*event_; }
    Iterator& operator++() {
      event_ = watch_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !event_.has_value(); }

   private:
    friend class WatchStream;
    explicit Iterator(WatchStream& watch) : watch_(&watch), event_(watch.next()) {}

    WatchStream* watch_;
    std::optional<WatchEvent<T>> event_;
  };
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::unique_ptr<detail::WatchState<T>> state_;  // at a fixed address, which the reader keeps
};

/// The events of a watch for coroutines:
///
///   auto watch = co_await pods.watch(options);
///   while (true) {
///     const auto event = co_await watch.next();
///     if (!event) break;
///     ...
///   }
///
/// It outlives the tasks that next() returns.
template <Described T>
class AsyncWatchStream {
 public:
  /// A watch that has ended.
  AsyncWatchStream() = default;
  explicit AsyncWatchStream(HttpStream stream, Pool* pool = nullptr)
      : state_(
            std::make_unique<detail::WatchState<T>>(std::move(stream), std::stop_token(), pool)) {}

  /// Waits for the next event; none when the watch has ended. On a stop it throws CanceledError,
  /// and the watch can be read on with another stop token.
  Task<std::optional<WatchEvent<T>>> next() {
    if (state_ == nullptr) co_return std::nullopt;
    detail::WatchState<T>& state = *state_;
    while (state.events.empty()) {
      const bool more = co_await state.reader.read();
      if (more) continue;
      const std::stop_token stop = co_await taskStop();
      if (stop.stop_requested()) throw CanceledError("watch: canceled");
      co_return std::nullopt;
    }
    co_return state.take();
  }

 private:
  std::unique_ptr<detail::WatchState<T>> state_;
};

}  // namespace kube
