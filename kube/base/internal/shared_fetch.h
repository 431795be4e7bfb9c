// A value that is fetched when it is first needed, by one thread for all that need it just then.
//
//   SharedFetch<Catalogue> catalogue;
//   auto known = catalogue.get([&] { return std::make_shared<const Catalogue>(download()); });
//   auto newer = catalogue.getNewer(known, download);   // the one at hand lacks something
//
// A failed fetch is told to everybody who waited for it, and tried again by whoever asks next. If
// it ended because its own caller was stopped, one of those who waited fetches in its place.
//
// Thread safety: every method may be called from any thread. No lock is held while fetching; a
// fetch must not ask for the value that it is to bring.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <stop_token>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/mutex.h"

namespace kube {

template <class T>
class SharedFetch {
 public:
  using Ptr = std::shared_ptr<const T>;

  /// What is there; null if nothing is.
  Ptr current() const {
    const detail::Lock lock(currentMutex_);
    return current_;
  }

  /// What is there, or is being fetched, or else what `fetch` returns. Throws what that throws, and
  /// CanceledError when a stop is requested while waiting for another thread's.
  template <class Fetch>
  Ptr get(Fetch fetch, const std::stop_token& stop = {}) {
    std::shared_ptr<Flight> own;
    {
      detail::Lock lock(currentMutex_);
      while (flight_ != nullptr || current_ != nullptr) {
        if (current_ != nullptr) return current_;
        const std::shared_ptr<Flight> flight = flight_;
        if (!landed_.wait(lock, stop, [&] { return flight->over; })) {
          throw CanceledError("canceled while waiting for what another thread fetches");
        }
        if (flight->failure) std::rethrow_exception(flight->failure);
        if (flight->value != nullptr) return flight->value;
      }
      own = takeOff();
    }
    return fly(own, std::move(fetch), stop);
  }

  /// Another one than `old`: fetched, unless that has happened since.
  template <class Fetch>
  Ptr getNewer(const Ptr& old, Fetch fetch, const std::stop_token& stop = {}) {
    std::shared_ptr<Flight> own;
    {
      const detail::Lock lock(currentMutex_);
      if (current_ != nullptr && current_ == old) {
        current_ = nullptr;
        own = takeOff();
      }
    }
    if (own != nullptr) return fly(own, std::move(fetch), stop);
    return get(std::move(fetch), stop);
  }

  /// The next get() fetches. What is being fetched now serves those who wait for it and is not
  /// kept.
  void forget() {
    const detail::Lock lock(currentMutex_);
    current_ = nullptr;
    flight_ = nullptr;
  }

 private:
  /// A fetch under way. Guarded by currentMutex_. Over without value and failure: its caller was
  /// stopped.
  struct Flight {
    bool over = false;
    Ptr value;
    std::exception_ptr failure;
  };

  std::shared_ptr<Flight> takeOff() KUBE_REQUIRES(currentMutex_) {
    return flight_ = std::make_shared<Flight>();
  }

  template <class Fetch>
  Ptr fly(const std::shared_ptr<Flight>& flight, Fetch fetch, const std::stop_token& stop)
      KUBE_EXCLUDES(currentMutex_) {
    Ptr value;
    std::exception_ptr failure;
    bool stopped = false;
    try {
      value = fetch();
    } catch (const CanceledError&) {
      failure = std::current_exception();
      stopped = stop.stop_requested();
    } catch (...) {
      failure = std::current_exception();
    }
    {
      const detail::Lock lock(currentMutex_);
      if (flight_ == flight) {  // otherwise forgotten since
        current_ = value;
        flight_ = nullptr;
      }
      flight->value = value;
      if (!stopped) flight->failure = failure;
      flight->over = true;
    }
    landed_.notify_all();
    if (failure) std::rethrow_exception(failure);
    return value;
  }

  mutable detail::Mutex currentMutex_;
  std::condition_variable_any landed_;
  Ptr current_ KUBE_GUARDED_BY(currentMutex_);
  std::shared_ptr<Flight> flight_
      KUBE_GUARDED_BY(currentMutex_);  // null: none, or none that counts
};

}  // namespace kube
