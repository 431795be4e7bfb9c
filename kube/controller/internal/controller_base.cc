#include "kube/controller/internal/controller_base.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/running_span.h"
#include "kube/base/internal/slow_wait.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/task_scope.h"
#include "kube/cache/handler_registration.h"
#include "kube/controller/internal/worker_threads.h"
#include "kube/workqueue/async_work_queue.h"
#include "kube/workqueue/internal/queue_metrics.h"

namespace kube::detail {
namespace {

Metrics& registryOf(const ControllerOptions& options) { return orDefault(options.metrics); }

const std::vector<double>& reconcileBuckets() {
  static const std::vector<double> bounds{
      0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
      0.7,   0.8,  0.9,   1,    1.25, 1.5,  1.75, 2,    2.5, 3,    3.5, 4,    4.5, 5,
      6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
  return bounds;
}

std::string_view groupOf(std::string_view apiVersion) {
  const std::size_t slash = apiVersion.find('/');
  return slash == std::string_view::npos ? std::string_view() : apiVersion.substr(0, slash);
}

}  // namespace

// The metrics, with the names of controller-runtime.
struct ControllerBase::Counts {
  Counts(Metrics& metrics, const std::string& name)
      : totals(metrics.counters("controller_runtime_reconcile_total",
                                "Total number of reconciliations per controller",
                                {"controller", "result"})),
        success(totals.with({name, "success"})),
        error(totals.with({name, "error"})),
        requeue(totals.with({name, "requeue"})),
        requeueAfter(totals.with({name, "requeue_after"})),
        errors(metrics
                   .counters("controller_runtime_reconcile_errors_total",
                             "Total number of reconciliation errors per controller", {"controller"})
                   .with({name})),
        givenUp(metrics
                    .counters("controller_runtime_terminal_reconcile_errors_total",
                              "Total number of terminal reconciliation errors per controller",
                              {"controller"})
                    .with({name})),
        panics(metrics
                   .counters("controller_runtime_reconcile_panics_total",
                             "Total number of reconciliation panics per controller", {"controller"})
                   .with({name})),
        seconds(metrics
                    .histograms("controller_runtime_reconcile_time_seconds",
                                "Length of time per reconciliation per controller", {"controller"},
                                reconcileBuckets())
                    .with({name})),
        workers(metrics
                    .gauges("controller_runtime_max_concurrent_reconciles",
                            "Maximum number of concurrent reconciles per controller",
                            {"controller"})
                    .with({name})),
        active(metrics
                   .gauges("controller_runtime_active_workers",
                           "Number of currently used workers per controller", {"controller"})
                   .with({name})) {}

  MetricFamily<Counter>& totals;
  Counter& success;
  Counter& error;
  Counter& requeue;
  Counter& requeueAfter;
  Counter& errors;
  Counter& givenUp;
  Counter& panics;
  Histogram& seconds;
  Gauge& workers;
  Gauge& active;
};

ControllerBase::ControllerBase(std::string name, ControllerOptions options, GroupKind kind,
                               bool namespaced)
    : name_(std::move(name)),
      options_(std::move(options)),
      kind_(std::move(kind)),
      namespaced_(namespaced),
      clock_(orReal(options_.clock)),
      log_(Logger("controller").with("controller", name_)),
      counts_(std::make_unique<Counts>(registryOf(options_), name_)) {}
ControllerBase::~ControllerBase() = default;

void ControllerBase::expectIdle(const char* what) const {
  const Lock lock(runningMutex_);
  if (running_) throw Error("controller \"" + name_ + "\": is running: " + what);
}

void ControllerBase::enqueue(const ObjectKey& key) const {
  std::shared_ptr<ControllerQueue> queue;
  {
    const Lock lock(runningMutex_);
    queue = running_;
  }
  if (queue) queue->add(key);
}

std::vector<ObjectKey> ControllerBase::ownersOf(const metav1::ObjectMeta& object,
                                                OwnerMatch match) const {
  std::vector<ObjectKey> owners;
  for (const metav1::OwnerReference& owner : object.ownerReferences) {
    if (match == OwnerMatch::Controller && !owner.controller.value_or(false)) continue;
    if (owner.kind != kind_.kind) continue;
    if (groupOf(owner.apiVersion) != kind_.group) continue;
    owners.push_back({namespaced_ ? object.namespace_ : String(), owner.name});
  }
  return owners;
}

// The handler that a controller has in an informer while it runs.
class ControllerBase::SourceHandler final : public NotificationHandler {
 public:
  SourceHandler(const Source& source, ControllerQueue& queue)
      : type_(source.informer->store()->type()),
        states_(source.states),
        keys_(source.keys),
        queue_(queue) {}

  void handle(const Notification& notification) const override {
    const void* before = notification.before.get();
    const void* after = notification.after.get();
    if (!keys_->matters(before, after)) return;
    switch (notification.type) {
      case Notification::Type::Add:
        return addAll(keys_->keysOf(after), notification.inInitialList ? kNotUrgent : kUsual);
      case Notification::Type::Update:
        return update(before, after);
      case Notification::Type::Delete:
        return addAll(keys_->keysOf(before), kUsual);
    }
  }

 private:
  // Keys of the first list and of resyncs wait behind keys of changes.
  static constexpr int kUsual = 0;
  static constexpr int kNotUrgent = -100;

  void addAll(const std::vector<ObjectKey>& keys, int priority) const {
    for (const ObjectKey& key : keys) queue_.add(key, priority);
  }
  void update(const void* before, const void* after) const {
    std::vector<ObjectKey> keys = keys_->keysOf(after);
    if (type_.resourceVersionOf(before) == type_.resourceVersionOf(after)) {
      return addAll(keys, kNotUrgent);
    }
    // Each key is added once: a worker may finish it before it would be added a second time.
    if (states_ == BothStates::Matter) {
      for (ObjectKey& key : keys_->keysOf(before)) {
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
      }
    }
    addAll(keys, kUsual);
  }

  const ObjectType& type_;
  const BothStates states_;
  const std::shared_ptr<const ChangeKeys> keys_;
  ControllerQueue& queue_;
};

void ControllerBase::listen(std::shared_ptr<InformerCore> informer, BothStates states,
                            Adding adding, std::unique_ptr<const ChangeKeys> keys) {
  expectIdle("sources cannot be added");
  sources_.push_back({std::move(informer), states, adding, std::move(keys)});
}

// Exists from the beginning of a run() to its end.
class ControllerBase::Run {
 public:
  explicit Run(ControllerBase& controller)
      : controller_(controller),
        counts_(*controller.counts_),
        queue_(std::make_shared<ControllerQueue>(
            controller.options_.limiter, QueueOptions{.name = controller.name_,
                                                      .clock = &controller.clock_,
                                                      .metrics = controller.options_.metrics})) {
    const Lock lock(controller_.runningMutex_);
    if (controller_.running_) {
      throw Error("controller \"" + controller_.name_ + "\": is already running");
    }
    controller_.running_ = queue_;
  }
  ~Run() {
    for (const HandlerRegistration& handler : handlers_) handler.remove();
    const Lock lock(controller_.runningMutex_);
    controller_.running_ = nullptr;
  }

  // Returns false if a stop is requested first.
  bool waitForSync(const std::stop_token& stop) {
    for (const Source& source : controller_.sources_) {
      auto handler = source.informer->addHandler(
          std::make_unique<SourceHandler>(source, *queue_),
          {.name = controller_.name_, .quick = source.adding == Adding::IsQuick});
      handlers_.emplace_back(source.informer->handlers(), std::move(handler));
    }
    for (const HandlerRegistration& handler : handlers_) {
      if (handler.waitForSync(stop)) continue;
      if (stop.stop_requested()) return false;
      throw Error("controller \"" + controller_.name_ + "\": an informer has ended");
    }
    return true;
  }

  void work(const std::stop_token& stop) {
    const int count = controller_.keysAtATime();
    counts_.workers.set(count);
    std::vector<Hand> hands(static_cast<std::size_t>(count));
    std::stop_source end;
    const std::stop_callback onStop(stop, [&] { end.request_stop(); });
    if (controller_.reconcileTask_) {
      workInTasks(hands, end.get_token());
    } else {
      workOnThreads(hands, end);
    }
  }

 private:
  /// The key that a worker reconciles, for other threads to read.
  class Hand {
   public:
    void take(const ObjectKey& key, Clock::TimePoint now) {
      const Lock lock(keyMutex_);
      key_ = key;
      since_ = now;
    }
    void letGo() {
      const Lock lock(keyMutex_);
      key_.reset();
    }
    std::pair<std::optional<ObjectKey>, Clock::TimePoint> has() const {
      const Lock lock(keyMutex_);
      return {key_, since_};
    }

   private:
    mutable Mutex keyMutex_;
    std::optional<ObjectKey> key_ KUBE_GUARDED_BY(keyMutex_);
    Clock::TimePoint since_ KUBE_GUARDED_BY(keyMutex_){};
  };

  void workOnThreads(std::vector<Hand>& hands, std::stop_source& end) {
    std::vector<std::jthread> workers;  // joined at the end, also after an exception
    try {
      for (Hand& hand : hands) {
        startingThread(controller_.nameOfWorker(), [&] {
          workers.emplace_back(
              [this, &hand, token = end.get_token()] { runBlocking(worker(hand), token); });
        });
      }
    } catch (...) {  // no thread could be started
      end.request_stop();
      throw;
    }
    waitForEnd(hands, end.get_token(), [&] { workers.clear(); });
  }

  void workInTasks(std::vector<Hand>& hands, const std::stop_token& stop) {
    std::optional<WorkerThreads> threads;
    if (!controller_.executor_) threads.emplace(controller_.nameOfWorker(), controller_.workers_);
    TaskScope workers(threads ? threads->executor() : controller_.executor_, stop);
    for (Hand& hand : hands) workers.start(worker(hand), controller_.nameOfWorker());
    waitForEnd(hands, stop, [&] { workers.wait(); });
  }

  // Waits for a stop and then, by `join`, for the workers.
  template <class Join>
  void waitForEnd(const std::vector<Hand>& hands, const std::stop_token& stop, Join join) {
    controller_.clock_.sleepUntil(Clock::noDeadline, stop);
    const SlowWait slow(controller_.clock_, [&](Clock::Duration) { reportBusy(hands); });
    join();
  }

  void reportBusy(const std::vector<Hand>& hands) const {
    constexpr int kNamed = 20;
    int busy = 0;
    for (const Hand& hand : hands) {
      const auto [key, since] = hand.has();
      if (!key || ++busy > kNamed) continue;
      controller_.log_.warning({{"object", key->str()}},
                               "stopping: waiting for reconcile to return, which has been busy for "
                               "{}",
                               inSeconds(controller_.clock_.now() - since));
    }
    if (busy > kNamed) {
      controller_.log_.warning("stopping: waiting for {} more objects", busy - kNamed);
    }
  }

  Task<void> worker(Hand& hand) {
    const TaskContext& context = co_await CurrentContext();
    for (WorkItem<ObjectKey> item;;) {
      const bool any = co_await queue_->async().next(item);
      if (!any) co_return;
      hand.take(*item, controller_.clock_.now());
      co_await handle(item, context.stop);
      hand.letGo();
    }
  }

  // Calls reconcile(). No exception may end the worker.
  Task<void> handle(const WorkItem<ObjectKey>& item, const std::stop_token& stop) {
    try {
      co_await reconcile(item, stop);
    } catch (const std::exception& error) {
      controller_.log_.error({{"object", item->str()}}, "queueing the key again failed: {}",
                             error.what());
    } catch (...) {
      controller_.log_.error({{"object", item->str()}}, "queueing the key again failed");
    }
  }

  Task<void> reconcile(const WorkItem<ObjectKey>& item, const std::stop_token& stop) {
    const auto begun = controller_.clock_.now();
    counts_.active.add(1);
    RunningSpan span = traced(item);
    Requeue result;
    std::optional<std::string> failure;
    try {
      if (!controller_.reconcileTask_) {
        const SpanScope scope(span.span());
        result = controller_.reconcile_(*item, stop);
      } else if (span) {
        result = co_await withSpan(controller_.reconcileTask_(*item, stop), span.span());
      } else {
        result = co_await controller_.reconcileTask_(*item, stop);
      }
    } catch (const std::exception& error) {
      failure = error.what();
    } catch (...) {
      failure = "an exception that is not a std::exception";
      counts_.panics.add();
    }
    counts_.active.add(-1);
    counts_.seconds.observe(secondsOf(controller_.clock_.now() - begun));
    if (failure) span.fail(*failure);
    span.end();
    if (failure) {
      onFailure(item, *failure, stop);
    } else {
      onSuccess(item, result);
    }
  }

  RunningSpan traced(const WorkItem<ObjectKey>& item) const {
    Tracer* const tracer = controller_.options_.tracer.get();
    if (tracer == nullptr) return {};
    RunningSpan span(tracer, "reconcile " + controller_.name_, SpanKind::Internal, nullptr);
    span.set({"controller", controller_.name_});
    span.set({"k8s.namespace.name", item->namespace_.view()});
    span.set({"k8s.object.name", item->name.view()});
    return span;
  }

  void onSuccess(const WorkItem<ObjectKey>& item, const Requeue& result) {
    failures_.forget(*item);
    switch (result.when()) {
      case Requeue::When::Done:
        queue_->forget(*item);
        counts_.success.add();
        return;
      case Requeue::When::Now:
        queue_->addRateLimited(*item, item.priority());
        counts_.requeue.add();
        return;
      case Requeue::When::After:
        queue_->forget(*item);
        queue_->addAfter(*item, result.delay(), item.priority());
        counts_.requeueAfter.add();
        return;
    }
  }

  void onFailure(const WorkItem<ObjectKey>& item, const std::string& error,
                 const std::stop_token& stop) {
    const ObjectKey& key = *item;
    if (stop.stop_requested()) {  // most likely the cause of the failure
      controller_.log_.debug({{"object", key.str()}},
                             "reconciling ended early because of the stop: {}", error);
      return;
    }
    counts_.errors.add();
    counts_.error.add();
    const int failed = failures_.add(key) + 1;
    if (!controller_.maxRetries_ || failed <= *controller_.maxRetries_) {
      controller_.log_.warning({{"object", key.str()}, {"failures", failed}},
                               "reconciling failed and will be retried: {}", error);
      queue_->addRateLimited(key, item.priority());
      return;
    }
    failures_.forget(key);
    queue_->forget(key);
    counts_.givenUp.add();
    controller_.log_.error({{"object", key.str()}, {"failures", failed}},
                           "reconciling failed too often and is given up: {}", error);
    if (!controller_.onGiveUp_) return;
    guarded(controller_.log_, "onGiveUp", [&] { controller_.onGiveUp_(key, error); });
  }

  ControllerBase& controller_;
  Counts& counts_;
  const std::shared_ptr<ControllerQueue> queue_;
  ItemFailures<ObjectKey> failures_;  // without keys that reconcile asked to requeue
  std::vector<HandlerRegistration> handlers_;
};

void ControllerBase::checkComplete() const {
  const auto incomplete = [&](const char* why) {
    throw Error(fmt::format("controller \"{}\": {}", name_, why));
  };
  if (reconcileTask_) return;
  if (!reconcile_) incomplete("there is no reconcile function");
  if (inFlight_) incomplete("inFlight() needs a reconcile function that is a coroutine");
  if (executor_) incomplete("executor() needs a reconcile function that is a coroutine");
}

std::string ControllerBase::nameOfWorker() const {
  return fmt::format("a worker of controller \"{}\"", name_);
}

void ControllerBase::run(const std::stop_token& stop) {
  checkComplete();
  if (stop.stop_requested()) return;
  Run run(*this);
  log_.info("waiting for caches");
  if (!run.waitForSync(stop)) return;
  try {
    if (beforeWork_) beforeWork_(stop);
  } catch (const std::exception& error) {
    if (!stop.stop_requested()) throw;
    log_.info("stopped before the first key: {}", error.what());
    return;
  }
  log_.info("working on up to {} keys at a time", keysAtATime());
  run.work(stop);
  log_.info("ended");
}

}  // namespace kube::detail
