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

#include "kube/base/error.h"
#include "kube/codec/stream.h"
#include "kube/rest/transport.h"

namespace kube {

template <Described T>
class WatchStream {
 public:
  WatchStream(HttpStream stream, std::stop_token stop, Pool* pool = nullptr)
      : state_(std::make_unique<State>(std::move(stream), std::move(stop), pool)) {}

  /// Blocks for the next event; none when the watch has ended.
  std::optional<WatchEvent<T>> next() {
    State& state = *state_;
    while (state.events.empty()) {
      if (state.error != nullptr) std::rethrow_exception(std::exchange(state.error, nullptr));
      if (state.over) return std::nullopt;
      try {
        if (const auto chunk = state.stream.read()) {
          state.decoder.feed(*chunk);
        } else {
          state.over = true;
          state.decoder.finish();
        }
      } catch (const CanceledError&) {
        state.over = true;
        if (!state.stop.stop_requested()) throw;
      } catch (const TimeoutError&) {
        state.over = true;
      } catch (...) {
        state.over = true;  // but what came before it counts
        state.error = std::current_exception();
      }
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
    State(HttpStream source, std::stop_token token, Pool* pool)
        : stream(std::move(source)),
          stop(std::move(token)),
          decoder([this](WatchEvent<T>&& event) { events.push_back(std::move(event)); },
                  {.pool = pool}) {}

    HttpStream stream;
    std::stop_token stop;
    std::deque<WatchEvent<T>> events;
    WatchDecoder<T> decoder;
    bool over = false;
    std::exception_ptr error;
  };
  std::unique_ptr<State> state_;  // its address is the decoder's to know
};

}  // namespace kube
