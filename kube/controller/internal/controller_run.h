// A run of a controller: its workers, and the handling of keys that fail.
//
// Included where it is compiled: once for ObjectKey, and in programs with keys of their own.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/running_span.h"
#include "kube/base/internal/slow_wait.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/internal/threads/own_thread.h"
#include "kube/base/task_scope.h"
#include "kube/controller/internal/keyed_controller.h"
#include "kube/controller/internal/time_limit.h"
#include "kube/controller/internal/worker_threads.h"
#include "kube/workqueue/async_work_queue.h"
#include "kube/workqueue/internal/queue_metrics.h"

namespace kube::detail {

// Exists from the beginning of a run() to its end.
template <ControllerKey Key>
class KeyedController<Key>::Run {
 public:
  Run(KeyedController& controller, const std::stop_token& stop)
      : controller_(controller),
        counts_(*controller.counts_),
        intake_(std::make_shared<Intake>(controller.limiter_,
                                         QueueOptions{.name = controller.name_,
                                                      .clock = &controller.clock_,
                                                      .metrics = controller.metrics_},
                                         controller.log_, controller.filter_,
                                         controller.takesContext_)),
        queue_(intake_->queue()),
        hands_(static_cast<std::size_t>(controller.keysAtATime())),
        onStop_(stop, [this] { intake_->requestStop(); }) {
    const Lock lock(controller_.runningMutex_);
    if (controller_.running_) {
      throw Error("controller \"" + controller_.name_ + "\": is already running");
    }
    controller_.running_ = intake_;
    controller_.run_ = this;
  }
  ~Run() {
    intake_->requestStop();
    controller_.sources_->end();
    intake_->close();
    const Lock lock(controller_.runningMutex_);
    controller_.running_ = nullptr;
    controller_.run_ = nullptr;
  }

  std::stop_token stopToken() const noexcept { return intake_->stopToken(); }
  // Throws the exception that a source has ended the run with.
  void rethrow() const { intake_->rethrow(); }

  // Returns false if a stop is requested first.
  Task<bool> waitForSync() {
    const std::stop_token stop = stopToken();
    const Slots slots = controller_.sources_->begin(intake_);
    const Slot* waiting = nullptr;
    Mutex waitingMutex;
    const auto describe = [&] {
      std::shared_ptr<RunningSource> running;
      const Lock lock(waitingMutex);
      if (waiting != nullptr) running = waiting->running();
      return running ? running->describe() : std::string();
    };
    const SlowWait slow(controller_.clock_, [&](Clock::Duration waited) {
      controller_.log_.warning("has been waiting {} for the cache of {}", inSeconds(waited),
                               describe());
    });
    std::optional<TimeLimit> limit;
    if (const auto most = controller_.syncTimeout_; most > Clock::Duration::zero()) {
      limit.emplace(controller_.clock_, most, stop, [] {});
    }
    for (const std::shared_ptr<Slot>& slot : slots) {
      {
        const Lock lock(waitingMutex);
        waiting = slot.get();
      }
      const std::stop_token until = limit ? limit->token() : stop;
      const bool synced = co_await underStop(slot->waitForSync(), until);
      if (synced) continue;
      if (stop.stop_requested()) co_return false;
      if (slot->dropped()) continue;
      if (limit && limit->over()) {
        throw TimeoutError(fmt::format("controller \"{}\": a cache has not synced in {}: {}",
                                       controller_.name_, inSeconds(controller_.syncTimeout_),
                                       describe()));
      }
      throw Error(fmt::format("controller \"{}\": the source \"{}\" has ended", controller_.name_,
                              slot->name()));
    }
    co_return true;
  }

  Task<void> work() {
    counts_.workers.set(static_cast<double>(hands_.size()));
    if (controller_.reconcileTask_) {
      co_await workInTasks();
    } else {
      co_await workOnThreads();
    }
  }

  // Ends the sources, which may have to wait for their functions.
  Task<void> endSources() {
    intake_->requestStop();
    const auto end = [sources = controller_.sources_](const std::stop_token&) { sources->end(); };
    try {
      co_await onThread(end);
    } catch (const Error&) {
      // There is no thread for it; the destructor ends them.
    }
  }

  std::string describe() const {
    std::string keys;
    const int busy = eachBusy([&](const std::string& key, const std::string& time) {
      keys += fmt::format("{}{} for {}", keys.empty() ? ": " : ", ", key, time);
    });
    if (busy > kNamed) keys += fmt::format(", and {} more", busy - kNamed);
    return fmt::format("reconciles {} of at most {} keys{}; {} wait", busy, hands_.size(), keys,
                       queue_.len());
  }

 private:
  using Intake = ControllerIntake<Key>;
  using Slot = typename ControllerSources<Key>::Slot;
  using Slots = typename ControllerSources<Key>::Slots;

  /// The key that a worker reconciles, for other threads to read.
  class Hand {
   public:
    void take(const Key& key, Clock::TimePoint now) {
      const Lock lock(keyMutex_);
      key_ = key;
      since_ = now;
    }
    void letGo() {
      const Lock lock(keyMutex_);
      key_.reset();
    }
    std::pair<std::optional<Key>, Clock::TimePoint> has() const {
      const Lock lock(keyMutex_);
      return {key_, since_};
    }

   private:
    mutable Mutex keyMutex_;
    std::optional<Key> key_ KUBE_GUARDED_BY(keyMutex_);
    Clock::TimePoint since_ KUBE_GUARDED_BY(keyMutex_){};
  };

  Task<void> workOnThreads() {
    std::vector<std::jthread> workers;  // joined at the end, also after an exception
    const Finally ending([this] { intake_->requestStop(); });
    for (Hand& hand : hands_) {
      startingThread(controller_.nameOfWorker(), [&] {
        workers.emplace_back([this, &hand, token = stopToken()] {
          runBlocking(worker(hand), token);
          leave();
        });
      });
    }
    const auto left = [this] { return allLeft(); };
    co_await waitForEnd(left);
  }

  void leave() {
    const Lock lock(leftMutex_);
    ++left_;
    changed_.notifyAll();
  }
  Task<void> allLeft() {
    const auto ready = [this]() KUBE_REQUIRES(leftMutex_) { return left_ == hands_.size(); };
    co_await changed_.wait(ready);
  }

  Task<void> workInTasks() {
    const TaskContext& context = co_await CurrentContext();
    std::optional<WorkerThreads> threads;
    Executor executor = controller_.executor_;
    if (!executor) executor = context.executor;
    if (!executor) {
      threads.emplace(controller_.nameOfWorker(), controller_.workers_);
      executor = threads->executor();
    }
    TaskScope workers(executor, stopToken());
    for (Hand& hand : hands_) workers.start(worker(hand), controller_.nameOfWorker());
    const auto left = [&workers] { return workers.join(); };
    co_await waitForEnd(left);
  }

  // Waits for a stop, and then for the workers: `left` returns that task.
  template <class Left>
  Task<void> waitForEnd(Left left) {
    const std::stop_token stop = stopToken();
    co_await underStop(sleepUntil(Clock::noDeadline, controller_.clock_), stop);
    const SlowWait slow(controller_.clock_, [this](Clock::Duration) { reportBusy(); });
    const std::stop_token never;
    co_await underStop(left(), never);
  }

  static constexpr int kNamed = 20;

  // Calls a function with the first kNamed keys that are reconciled, and how long. Returns the
  // number of all.
  template <class Function>
  int eachBusy(Function function) const {
    int busy = 0;
    for (const Hand& hand : hands_) {
      const auto [key, since] = hand.has();
      if (key && ++busy <= kNamed) {
        function(keyText(*key), inSeconds(controller_.clock_.now() - since));
      }
    }
    return busy;
  }

  void reportBusy() const {
    const int busy = eachBusy([&](const std::string& key, const std::string& time) {
      controller_.log_.warning({{"object", key}},
                               "stopping: waiting for reconcile to return, which has been busy for "
                               "{}",
                               time);
    });
    if (busy > kNamed) {
      controller_.log_.warning("stopping: waiting for {} more objects", busy - kNamed);
    }
  }

  Task<void> worker(Hand& hand) {
    const TaskContext& context = co_await CurrentContext();
    for (WorkItem<Key> item;;) {
      const bool any = co_await queue_.async().next(item);
      if (!any) co_return;
      hand.take(*item, controller_.clock_.now());
      co_await handle(item, context.stop);
      hand.letGo();
    }
  }

  // Calls reconcile(). No exception may end the worker.
  Task<void> handle(const WorkItem<Key>& item, const std::stop_token& stop) {
    try {
      co_await reconcile(item, stop);
    } catch (const std::exception& error) {
      controller_.log_.error({{"object", keyText(*item)}}, "queueing the key again failed: {}",
                             error.what());
    } catch (...) {
      controller_.log_.error({{"object", keyText(*item)}}, "queueing the key again failed");
    }
  }

  Task<void> reconcile(const WorkItem<Key>& item, const std::stop_token& stop) {
    intake_->noteTaken(*item);
    const auto begun = controller_.clock_.now();
    RunningSpan span = traced(*item);
    Requeue result;
    std::optional<Failure> failure;
    std::unique_ptr<ReconcileContext> context;
    std::optional<TimeLimit> limit;
    std::stop_token limited;
    try {
      counts_.active.add(1);
      const Finally ended([this] { counts_.active.add(-1); });
      if (controller_.reconcileTimeout_ > Clock::Duration::zero()) limitTime(limit, *item, stop);
      if (controller_.takesContext_) context = contextOf(item, limit, stop);
      if (limit) limited = limit->token();
      const Attempt attempt{limit ? limited : stop, context.get()};
      if (!controller_.reconcileTask_) {
        const SpanScope scope(span.span());
        result = controller_.reconcile_(*item, attempt);
      } else if (!limit && !span) {
        result = co_await controller_.reconcileTask_(*item, attempt);
      } else {
        const TaskContext& outer = co_await CurrentContext();
        TaskContext inner = outer;
        if (limit) inner.stop = limited;
        if (span) inner.span = span.span();
        Task<Requeue> task = controller_.reconcileTask_(*item, attempt);
        result = co_await TaskAccess::inContext(task, inner);
      }
    } catch (const TerminalError& error) {
      failure.emplace(error.what(), true);
    } catch (const std::exception& error) {
      failure.emplace(error.what());
    } catch (...) {
      failure.emplace("an exception that is not a std::exception");
      counts_.panics.add();
    }
    const Clock::Duration taken = controller_.clock_.now() - begun;
    counts_.seconds.observe(secondsOf(taken));
    if (limit && limit->over()) {
      counts_.timeouts.add();
      if (failure) {
        failure->text = fmt::format("after {}, with a limit of {}: {}", inSeconds(taken),
                                    inSeconds(controller_.reconcileTimeout_), failure->text);
      }
    }
    if (failure) span.fail(failure->text);
    span.end();
    if (failure) {
      onFailure(item, *failure, context.get(), stop);
    } else {
      onSuccess(item, result);
    }
  }

  RunningSpan traced(const Key& key) const {
    Tracer* const tracer = controller_.tracer_.get();
    if (tracer == nullptr) return {};
    RunningSpan span(tracer, "reconcile " + controller_.name_, SpanKind::Internal, nullptr);
    span.set({"controller", controller_.name_});
    if constexpr (std::same_as<Key, ObjectKey>) {
      span.set({"k8s.namespace.name", key.namespace_.view()});
      span.set({"k8s.object.name", key.name.view()});
    } else {
      span.set({"key", keyText(key)});
    }
    return span;
  }

  struct Failure {
    explicit Failure(std::string what, bool forGood = false)
        : text(std::move(what)), terminal(forGood) {}
    std::string text;
    bool terminal;
  };

  void limitTime(std::optional<TimeLimit>& limit, const Key& key, const std::stop_token& stop) {
    limit.emplace(controller_.clock_, controller_.reconcileTimeout_, stop, [this, &key] {
      controller_.log_.warning({{"object", keyText(key)}},
                               "reconciling has not ended in {}, and is asked to stop",
                               inSeconds(controller_.reconcileTimeout_));
    });
  }

  std::unique_ptr<ReconcileContext> contextOf(const WorkItem<Key>& item,
                                              const std::optional<TimeLimit>& limit,
                                              const std::stop_token& stop) {
    auto context = std::make_unique<ReconcileContext>();
    context->id = newReconcileId();
    context->log = controller_.log_.with("object", keyText(*item)).with("reconcileID", context->id);
    WakeReasons reasons = intake_->takeReasons(*item);
    context->reasons = std::move(reasons.last);
    context->reasonCount = reasons.count;
    context->attempt = intake_->failures().count(*item) + 1;
    context->priority = item.priority();
    if (limit) context->deadline = limit->deadline();
    context->stop = limit ? limit->token() : stop;
    return context;
  }

  void onSuccess(const WorkItem<Key>& item, const Requeue& result) {
    intake_->failures().forget(*item);
    const int priority = result.priority().value_or(item.priority());
    switch (result.when()) {
      case Requeue::When::Done:
        queue_.forget(*item);
        counts_.success.add();
        return;
      case Requeue::When::Now:
        queue_.addRateLimited(*item, priority);
        counts_.requeue.add();
        return;
      case Requeue::When::After:
        queue_.forget(*item);
        queue_.addAfter(*item, result.delay(), priority);
        counts_.requeueAfter.add();
        return;
    }
  }

  void onFailure(const WorkItem<Key>& item, const Failure& failure, ReconcileContext* context,
                 const std::stop_token& stop) {
    const Key& key = *item;
    const Logger log =
        context != nullptr ? context->log : controller_.log_.with("object", keyText(key));
    if (stop.stop_requested()) {  // most likely the cause of the failure
      log.debug("reconciling ended early because of the stop: {}", failure.text);
      return;
    }
    counts_.errors.add();
    counts_.error.add();
    const int failed = intake_->failures().add(key) + 1;
    if (!failure.terminal && (!controller_.maxRetries_ || failed <= *controller_.maxRetries_)) {
      log.warning({{"failures", failed}}, "reconciling failed and will be retried: {}",
                  failure.text);
      if (context != nullptr) {
        intake_->keepReasons(key, {std::move(context->reasons), context->reasonCount});
      }
      queue_.addRateLimited(key, item.priority());
      return;
    }
    intake_->failures().forget(key);
    queue_.forget(key);
    counts_.givenUp.add();
    log.error({{"failures", failed}}, "reconciling failed {} and is given up: {}",
              failure.terminal ? "for good" : "too often", failure.text);
    if (!controller_.onGiveUp_) return;
    guarded(controller_.log_, "onGiveUp", [&] { controller_.onGiveUp_(key, failure.text); });
  }

  KeyedController& controller_;
  Counts& counts_;
  const std::shared_ptr<Intake> intake_;
  typename Intake::Queue& queue_;
  std::vector<Hand> hands_;
  Mutex leftMutex_;
  Condition changed_{leftMutex_};
  std::size_t left_ KUBE_GUARDED_BY(leftMutex_) = 0;  // threads of workers that have ended
  const std::stop_callback<std::function<void()>> onStop_;
};

template <ControllerKey Key>
KeyedController<Key>::KeyedController(std::string name, ControllerOptionsFor<Key> options,
                                      GroupKind kind, bool namespaced)
    : ControllerBase(std::move(name), options.clock, options.metrics, std::move(kind), namespaced),
      limiter_(std::move(options.limiter)),
      tracer_(std::move(options.tracer)) {}

template <ControllerKey Key>
KeyedController<Key>::~KeyedController() {
  sources_->clear();
}

template <ControllerKey Key>
void KeyedController<Key>::expectIdle(const char* what) const {
  const Lock lock(runningMutex_);
  if (running_) throw Error("controller \"" + name_ + "\": is running: " + what);
}

template <ControllerKey Key>
void KeyedController<Key>::enqueue(const Key& key, int priority) const {
  std::shared_ptr<ControllerIntake<Key>> intake;
  {
    const Lock lock(runningMutex_);
    intake = running_;
  }
  if (!intake) return;
  intake->wake(key, priority, [] { return WakeReason{.source = "enqueue"}; });
}

template <ControllerKey Key>
ControllerSource KeyedController<Key>::addSource(std::unique_ptr<const KeySource<Key>> source) {
  return ControllerSource(sources_->add(std::move(source)));
}

template <ControllerKey Key>
void KeyedController<Key>::checkComplete() const {
  const auto incomplete = [&](const char* why) {
    throw Error(fmt::format("controller \"{}\": {}", name_, why));
  };
  if (reconcileTask_) return;
  if (!reconcile_) incomplete("there is no reconcile function");
  if (inFlight_) incomplete("inFlight() needs a reconcile function that is a coroutine");
  if (executor_) incomplete("executor() needs a reconcile function that is a coroutine");
}

template <ControllerKey Key>
std::string KeyedController<Key>::describe() const {
  const Lock lock(runningMutex_);
  return run_ != nullptr ? run_->describe() : "does not run";
}

template <ControllerKey Key>
Task<void> KeyedController<Key>::runTask() {
  const std::stop_token stop = co_await taskStop();
  checkComplete();
  if (stop.stop_requested()) co_return;
  Run run(*this, stop);
  log_.info("waiting for caches");
  const bool synced = co_await run.waitForSync();
  if (!synced) co_return run.rethrow();
  try {
    if (beforeWork_) {
      co_await underStop(onOwnThread("beforeWork of controller \"" + name_ + "\"", beforeWork_),
                         run.stopToken());
    }
  } catch (const std::exception& error) {
    run.rethrow();
    if (!stop.stop_requested()) throw;
    log_.info("stopped before the first key: {}", error.what());
    co_return;
  }
  log_.info("working on up to {} keys at a time", keysAtATime());
  co_await run.work();
  co_await run.endSources();
  log_.info("ended");
  run.rethrow();
}

}  // namespace kube::detail
