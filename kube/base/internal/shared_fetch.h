// A value that is fetched when it is first needed, once for all that need it then.
//
//   SharedFetch<Catalogue> catalogue;
//   const auto fetch = [&]() -> Task<SharedFetch<Catalogue>::Ptr> { ... };
//   auto known = co_await catalogue.get(fetch);
//   auto newer = co_await catalogue.getNewer(known, fetch);  // if `known` lacks something
//
// Each fetch belongs to the task that was first; the others wait for it. All of them get the error
// of a failed fetch; the next caller tries again. If the fetching task was stopped or destroyed,
// one of the waiting ones fetches instead. runBlocking() makes the blocking forms; on a thread that
// a fetching task needs to go on, they would wait for ever.
//
// Thread safety: every method may be called from any thread. No lock is held during a fetch. A
// fetch must not ask for the value that it fetches. The object outlives its tasks.
#pragma once

#include <exception>
#include <memory>
#include <stop_token>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/task_call.h"
#include "kube/base/task.h"

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

  /// Returns the present value, the result of a fetch under way, or else the result of `fetch`,
  /// which may be a task. Throws the exceptions of the fetch, and CanceledError if a stop is
  /// requested during the wait for another task.
  template <class Fetch>
  Task<Ptr> get(Fetch fetch) {
    return getNewer(nullptr, std::move(fetch));
  }

  /// Returns a value other than `old`: fetches it, unless another task has done so since.
  template <class Fetch>
  Task<Ptr> getNewer(Ptr old, Fetch fetch) {
    for (;;) {
      Turn turn = begin(old);
      if (turn.present != nullptr) co_return turn.present;
      const std::shared_ptr<Flight> flight = turn.flight;
      if (turn.own) {
        Landing landing(*this, flight);
        co_await fly(landing, fetch);
        co_return flight->value;
      }
      // Nothing but the landing ends this sleep, or a stop of this task.
      co_await withStop(sleepUntil(Clock::noDeadline), flight->over.get_token());
      if (!flight->over.stop_requested()) {
        throw CanceledError("canceled while waiting for the fetch of another task");
      }
      if (flight->failure) std::rethrow_exception(flight->failure);
      if (flight->value != nullptr) co_return flight->value;
    }
  }

  /// Makes the next get() fetch. A fetch under way still serves its waiting tasks, but its result
  /// is not kept.
  void forget() {
    const detail::Lock lock(currentMutex_);
    current_ = nullptr;
    flight_ = nullptr;
  }

 private:
  /// A fetch under way. Its results are written before `over` is requested, and read after. If it
  /// has neither value nor failure then, its task was stopped or destroyed.
  struct Flight {
    std::stop_source over;
    Ptr value;
    std::exception_ptr failure;
  };
  struct Turn {
    Ptr present = {};
    std::shared_ptr<Flight> flight = {};
    bool own = false;
  };

  /// The end of a flight, however it ends.
  class Landing {
   public:
    Landing(SharedFetch& fetch, std::shared_ptr<Flight> flight)
        : fetch_(fetch), flight_(std::move(flight)) {}
    Landing(const Landing&) = delete;
    Landing& operator=(const Landing&) = delete;
    ~Landing() {
      fetch_.land(flight_);
      flight_->over.request_stop();
    }
    Flight& flight() const noexcept { return *flight_; }

   private:
    SharedFetch& fetch_;
    const std::shared_ptr<Flight> flight_;
  };

  Turn begin(const Ptr& old) {
    const detail::Lock lock(currentMutex_);
    if (current_ != nullptr && current_ != old) return {.present = current_};
    if (flight_ != nullptr) return {.flight = flight_};
    current_ = nullptr;
    flight_ = std::make_shared<Flight>();
    return {.flight = flight_, .own = true};
  }

  template <class Fetch>
  static Task<void> fly(Landing& landing, Fetch& fetch) {
    Flight& flight = landing.flight();
    const std::stop_token stop = co_await taskStop();
    try {
      flight.value = co_await detail::callTask(fetch);
    } catch (const CanceledError&) {
      if (!stop.stop_requested()) flight.failure = std::current_exception();
      throw;
    } catch (...) {
      flight.failure = std::current_exception();
      throw;
    }
  }

  void land(const std::shared_ptr<Flight>& flight) {
    const detail::Lock lock(currentMutex_);
    if (flight_ != flight) return;  // it was forgotten meanwhile
    current_ = flight->value;
    flight_ = nullptr;
  }

  mutable detail::Mutex currentMutex_;
  Ptr current_ KUBE_GUARDED_BY(currentMutex_);
  // Null if there is none, or its result is not kept.
  std::shared_ptr<Flight> flight_ KUBE_GUARDED_BY(currentMutex_);
};

}  // namespace kube
