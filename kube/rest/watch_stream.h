// The events of a watch, as they come.
//
//   for (const auto& event : clients.coreV1().pods("book").watch({}, stop))
//     std::cout << event.type << ' ' << event.object.metadata.name << '\n';
//
// It ends when a stop is requested, when the time of the request is over and when the server closes
// the stream, as servers do every few minutes; a reader who wants to go on watches again from the
// last resourceVersion seen (an informer does all that). A connection that breaks is a
// TransportError, a frame that makes no sense a DecodeError. The server's own error, such as that
// the resourceVersion is too old, is an event with its Status, and mostly the last.
//
// Thread safety: one thread at a time. A stop may be requested by any.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kube/codec/stream.h"
#include "kube/http/transport.h"

namespace kube {

namespace detail {

/// What a watch is without its objects' C++ type: what is read goes to the sink, decoded.
class WatchReader {
 public:
  WatchReader(HttpStream stream, std::stop_token stop, const TypeInfo& type, Pool* pool,
              ObjectSink& sink)
      : stream_(std::move(stream)),
        stop_(std::move(stop)),
        decoder_(ObjectStream::Mode::Watch, type, {.pool = pool}, sink) {}

  /// Blocks for something to read; false when the watch has ended. What it throws comes after
  /// everything that was read before.
  bool read();

 private:
  HttpStream stream_;
  std::stop_token stop_;
  ObjectStream decoder_;
  bool over_ = false;
  std::exception_ptr error_;
};

}  // namespace detail

template <Described T>
class WatchStream {
 public:
  WatchStream(HttpStream stream, std::stop_token stop, Pool* pool = nullptr)
      : state_(std::make_unique<State>(std::move(stream), std::move(stop), pool)) {}

  /// Blocks for the next event; none when the watch has ended.
  std::optional<WatchEvent<T>> next() {
    State& state = *state_;
    while (state.events.empty()) {
      if (!state.reader.read()) return std::nullopt;
    }
    WatchEvent<T> event = std::move(state.events.front());
    state.events.pop_front();
    return event;
  }

  /// For one pass.
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
  struct State {
    State(HttpStream stream, std::stop_token stop, Pool* pool)
        : collector([this](WatchEvent<T>&& event) { events.push_back(std::move(event)); }),
          reader(std::move(stream), std::move(stop), TypeOf<T>::info, pool, collector) {}

    std::deque<WatchEvent<T>> events;
    detail::EventCollector<detail::MakeWatchEvent<T>> collector;
    detail::WatchReader reader;
  };
  std::unique_ptr<State> state_;  // its address is the reader's to know
};

}  // namespace kube
