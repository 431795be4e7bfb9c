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
#include <mutex>
#include <stop_token>
#include <utility>

#include "kube/base/error.h"

namespace kube {

template <class T>
class SharedFetch {
 public:
  using Ptr = std::shared_ptr<const T>;

  /// What is there; null if nothing is.
  Ptr current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  /// What is there, or is being fetched, or else what `fetch` returns. Throws what that throws, and
  /// CanceledError when a stop is requested while waiting for another thread's.
  template <class Fetch>
  Ptr get(Fetch fetch, const std::stop_token& stop = {}) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (current_ != nullptr) return current_;
      if (flight_ == nullptr) return fly(lock, std::move(fetch), stop);
      const std::shared_ptr<Flight> flight = flight_;
      if (!landed_.wait(lock, stop, [&] { return flight->over; })) {
        throw CanceledError("canceled while waiting for what another thread fetches");
      }
      if (flight->failure) std::rethrow_exception(flight->failure);
      if (flight->value != nullptr) return flight->value;
    }
  }

  /// Another one than `old`: fetched, unless that has happened since.
  template <class Fetch>
  Ptr getNewer(const Ptr& old, Fetch fetch, const std::stop_token& stop = {}) {
    {
      std::unique_lock lock(mutex_);
      if (current_ != nullptr && current_ == old) {
        current_ = nullptr;
        return fly(lock, std::move(fetch), stop);
      }
    }
    return get(std::move(fetch), stop);
  }

  /// The next get() fetches. What is being fetched now serves those who wait for it and is not
  /// kept.
  void forget() {
    const std::lock_guard lock(mutex_);
    current_ = nullptr;
    flight_ = nullptr;
  }

 private:
  /// A fetch under way. Guarded by mutex_. Over without value and failure: its caller was stopped.
  struct Flight {
    bool over = false;
    Ptr value;
    std::exception_ptr failure;
  };

  template <class Fetch>
  Ptr fly(std::unique_lock<std::mutex>& lock, Fetch fetch, const std::stop_token& stop) {
    const std::shared_ptr<Flight> flight = flight_ = std::make_shared<Flight>();
    lock.unlock();
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
    lock.lock();
    if (flight_ == flight) {  // otherwise forgotten since
      current_ = value;
      flight_ = nullptr;
    }
    flight->value = value;
    if (!stopped) flight->failure = failure;
    flight->over = true;
    lock.unlock();
    landed_.notify_all();
    if (failure) std::rethrow_exception(failure);
    return value;
  }

  mutable std::mutex mutex_;
  std::condition_variable_any landed_;
  Ptr current_;
  std::shared_ptr<Flight> flight_;  // null: none, or none that counts
};

}  // namespace kube
