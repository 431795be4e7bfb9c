// A value that is fetched when it is first needed, by one thread for all threads that need it then.
//
//   SharedFetch<Catalogue> catalogue;
//   auto known = catalogue.get([&] { return std::make_shared<const Catalogue>(download()); });
//   auto newer = catalogue.getNewer(known, download);  // if `known` lacks something
//
// All threads that waited for a failed fetch get its error; the next caller tries again. If the
// fetch ended because its own caller was stopped, one of the waiting threads fetches instead.
//
// Thread safety: every method may be called from any thread. No lock is held during a fetch. A
// fetch must not ask for the value that it fetches.
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

  /// The present value; null if there is none.
  Ptr current() const {
    const detail::Lock lock(currentMutex_);
    return current_;
  }

  /// Returns the present value, the result of a fetch under way, or else the result of `fetch`.
  /// Throws the exceptions of the fetch, and CanceledError if a stop is requested during the wait
  /// for another thread.
  template <class Fetch>
  Ptr get(Fetch fetch, const std::stop_token& stop = {}) {
    std::shared_ptr<Flight> own;
    {
      detail::Lock lock(currentMutex_);
      while (flight_ != nullptr || current_ != nullptr) {
        if (current_ != nullptr) return current_;
        const std::shared_ptr<Flight> flight = flight_;
        if (!landed_.wait(lock, stop, [&] { return flight->over; })) {
          throw CanceledError("canceled while waiting for the fetch of another thread");
        }
        if (flight->failure) std::rethrow_exception(flight->failure);
        if (flight->value != nullptr) return flight->value;
      }
      own = takeOff();
    }
    return fly(own, std::move(fetch), stop);
  }

  /// Returns a value other than `old`: fetches it, unless another thread has done so since.
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

  /// Makes the next get() fetch. A fetch under way still serves its waiting threads, but its result
  /// is not kept.
  void forget() {
    const detail::Lock lock(currentMutex_);
    current_ = nullptr;
    flight_ = nullptr;
  }

 private:
  /// A fetch under way. Guarded by currentMutex_. If it is over without value and failure, its
  /// caller was stopped.
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
      if (flight_ == flight) {  // otherwise it was forgotten meanwhile
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
  // Null if there is none, or its result is not kept.
  std::shared_ptr<Flight> flight_ KUBE_GUARDED_BY(currentMutex_);
};

}  // namespace kube
