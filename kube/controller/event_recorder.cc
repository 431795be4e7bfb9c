#include "kube/controller/event_recorder.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <optional>
#include <vector>

#include "kube/api/events/v1.h"
#include "kube/base/backoff.h"
#include "kube/base/error.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/thread_tree.h"
#include "kube/base/log.h"
#include "kube/base/task_scope.h"
#include "kube/client/async_resource_client.h"
#include "kube/codec/patch/patch.h"
#include "kube/controller/internal/event_name.h"
#include "kube/controller/internal/event_series.h"
#include "kube/meta/api_error.h"

namespace kube {
namespace {

// Limits of the API, events.k8s.io/v1.
constexpr std::size_t kMaxNote = 1024;
constexpr std::size_t kMaxInstance = 128;

std::string hostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

// Cuts a text to this many bytes, at the end of a character.
void shorten(std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  text.resize(bytes);
}

}  // namespace

// The queue, and the coroutine that empties it. The first event begins it. close() ends it; later
// only those who await flush() or shutDown() may hold this.
class detail::EventSender {
 public:
  EventSender(const RestClient& rest, EventRecorderOptions options)
      : options_(std::move(options)),
        clock_(orReal(options_.clock)),
        rest_(rest),
        correlator_(options_.correlation, clock_),
        series_(clock_, options_.correlation.cacheSize),
        spam_(options_.correlation, clock_),
        dropped_((orDefault(options_.metrics))
                     .counters("event_recorder_dropped_total",
                               "Events lost: the queue was full, or the recorder shut down.",
                               {"component"})
                     .with({options_.component})),
        log_(Logger("events").with("component", options_.component)) {
    if (options_.component.empty()) throw ConfigError("event recorder: component is empty");
    if (options_.queueSize == 0) throw ConfigError("event recorder: queueSize is 0");
    if (options_.maxTries < 1) throw ConfigError("event recorder: maxTries is below 1");
    if (options_.instance.empty()) options_.instance = options_.component + "-" + hostName();
    shorten(options_.instance, kMaxInstance);
  }

  void record(EventFacts facts) {
    if (facts.type != kEventNormal && facts.type != kEventWarning) {
      log_.error("event \"{}\": the type must be Normal or Warning, not \"{}\"", facts.reason,
                 facts.type);
      return;
    }
    if (options_.sink) return guarded(log_, "the sink", [&] { options_.sink(facts); });
    Recorded recorded{std::move(facts), clock_.wallNow()};
    if (enqueue(recorded)) return;
    drop(1);
    log_.warning(
        "event \"{}\" about {} \"{}\" is dropped: the queue is full, or the recorder is shut down",
        recorded.facts.reason, recorded.facts.regarding.kind, recorded.facts.regarding.name);
  }

  static Task<bool> flush(std::shared_ptr<EventSender> self) {
    std::uint64_t wanted = 0;
    {
      const Lock lock(self->queueMutex_);
      wanted = self->recordedCount_;
      self->begin();
    }
    const auto handled = [&self, wanted]() KUBE_REQUIRES(self->queueMutex_) {
      return self->handledCount_ >= wanted;
    };
    co_return co_await self->changed_.wait(handled);
  }

  static Task<void> shutDown(std::shared_ptr<EventSender> self) {
    try {
      {
        const Lock lock(self->queueMutex_);
        self->closed_ = true;
        self->changed_.notifyAll();
        self->begin();
      }
      self->closing_.request_stop();
      const auto ended = [&self]() KUBE_REQUIRES(self->queueMutex_) { return !self->running_; };
      const auto deadline = self->clock_.deadlineAfter(self->options_.flushTimeout);
      co_await self->changed_.waitUntil(ended, self->clock_, deadline);
    } catch (const Error& error) {
      self->log_.error("events in the queue cannot be sent: {}", error.what());
    }
    self->giveUp();
  }

  static void close(const std::shared_ptr<EventSender>& self) noexcept {
    guarded(self->log_, "the end of the recorder", [&self] { runBlocking(shutDown(self), {}); });
    self->giveUp();
  }

  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Recorded {
    EventFacts facts;
    Clock::WallTime time;
  };

  // Takes the event. Returns false if there is no room. Logs without the lock, which the coroutine
  // and other callers wait for.
  bool enqueue(Recorded& recorded) {
    try {
      const Lock lock(queueMutex_);
      if (closed_ || queue_.size() >= options_.queueSize) return false;
      queue_.push_back(std::move(recorded));
      ++recordedCount_;
      changed_.notifyAll();
      begin();
    } catch (const Error& error) {
      log_.error("events have to wait: {}", error.what());
    }
    return true;
  }

  // Begins the coroutine if there is something to do. Throws Error if there is no thread for it.
  void begin() KUBE_REQUIRES(queueMutex_) {
    if (running_ || queue_.empty() || tasks_ == nullptr) return;
    running_ = true;
    try {
      tasks_->start(run(), "the event recorder of " + options_.component);
    } catch (const Error&) {
      running_ = false;
      throw;
    }
  }

  void drop(std::uint64_t events) {
    lost_.fetch_add(events, std::memory_order_relaxed);
    dropped_.add(events);
  }

  // Ends the coroutine, and drops what it has not handled.
  void giveUp() {
    std::unique_ptr<TaskScope> tasks;
    {
      const Lock lock(queueMutex_);
      closed_ = true;
      tasks.swap(tasks_);
    }
    if (tasks == nullptr) return;  // another thread does it
    tasks.reset();
    std::deque<Recorded> destroyed;  // without the lock
    std::uint64_t left = 0;
    {
      const Lock lock(queueMutex_);
      left = recordedCount_ - std::exchange(handledCount_, recordedCount_);
      destroyed.swap(queue_);
      running_ = false;
      changed_.notifyAll();
    }
    if (left == 0) return;
    drop(left);
    log_.warning("{} events are dropped: the recorder is shut down", left);
  }

  Task<void> run() {
    const TaskContext& context = co_await CurrentContext();
    auto nextFinish = clock_.deadlineAfter(EventSeriesCounter::kFinishAfter);
    auto nextRefresh = clock_.deadlineAfter(EventSeriesCounter::kRefreshEvery);
    const bool series = options_.api == EventApi::Events;
    for (;;) {
      co_await waitForWork(series ? std::min(nextFinish, nextRefresh) : Clock::noDeadline);
      if (context.stop.stop_requested()) co_return;
      std::optional<Recorded> next;
      {
        const Lock lock(queueMutex_);
        if (!queue_.empty()) {
          next = std::move(queue_.front());
          queue_.pop_front();
        } else if (closed_) {
          break;
        }
      }
      if (next) {
        co_await handle(std::move(*next));
        if (context.stop.stop_requested()) co_return;  // it was not sent
        const Lock lock(queueMutex_);
        ++handledCount_;
        changed_.notifyAll();
      }
      const auto now = clock_.now();
      if (series && now >= nextFinish) {
        nextFinish = clock_.deadlineAfter(EventSeriesCounter::kFinishAfter);
        co_await sendAll(series_.finish());
      }
      if (series && now >= nextRefresh) {
        nextRefresh = clock_.deadlineAfter(EventSeriesCounter::kRefreshEvery);
        co_await sendAll(series_.refresh());
      }
    }
    if (series) co_await sendAll(series_.finishAll());
    const Lock lock(queueMutex_);
    running_ = false;
    changed_.notifyAll();
  }

  Task<void> waitForWork(Clock::TimePoint deadline) {
    const auto ready = [this]() KUBE_REQUIRES(queueMutex_) { return closed_ || !queue_.empty(); };
    try {
      co_await changed_.waitUntil(ready, clock_, deadline);
      co_return;
    } catch (const Error& error) {
      log_.error("series of events are sent late: {}", error.what());
    }
    co_await changed_.wait(ready);
  }

  Task<void> handle(Recorded recorded) {
    try {
      if (options_.api == EventApi::Core) {
        co_await handleCore(recorded);
      } else {
        co_await handleSeries(recorded);
      }
    } catch (const std::exception& error) {
      log_.error("event \"{}\": {}", recorded.facts.reason, error.what());
    } catch (...) {
      log_.error("event \"{}\": an exception that is not a std::exception", recorded.facts.reason);
    }
  }

  static metav1::ObjectMeta metaOf(const EventFacts& facts, const Clock& clock) {
    metav1::ObjectMeta meta;
    const String& space = facts.regarding.namespace_;
    meta.namespace_ = space.empty() ? String("default") : space;
    meta.name = eventName(facts.regarding.name, clock);
    meta.annotations = facts.annotations;
    return meta;
  }

  Task<void> handleCore(const Recorded& recorded) {
    const EventFacts& facts = recorded.facts;
    corev1::Event event;
    event.metadata = metaOf(facts, clock_);
    event.involvedObject = facts.regarding;
    if (facts.related != corev1::ObjectReference{}) event.related = facts.related;
    event.reason = facts.reason;
    event.action = facts.action;
    event.message = facts.note;
    event.type = facts.type;
    event.firstTimestamp = event.lastTimestamp = Time(recorded.time);
    event.count = 1;
    event.source->component = event.reportingComponent = options_.component;
    event.source->host = event.reportingInstance = options_.instance;
    const EventCorrelator::Result result = correlator_.correlate(event);
    if (result.skip) co_return;
    const auto written = co_await send(result.event, result.patch);
    if (written) correlator_.written(result.key, *written);
  }

  Task<void> handleSeries(const Recorded& recorded) {
    const EventFacts& facts = recorded.facts;
    eventsv1::Event event;
    event.metadata = metaOf(facts, clock_);
    event.eventTime = MicroTime(recorded.time);
    event.reportingController = options_.component;
    event.reportingInstance = options_.instance;
    event.action = facts.action.empty() ? facts.reason : facts.action;
    event.reason = facts.reason;
    event.regarding = facts.regarding;
    if (facts.related != corev1::ObjectReference{}) event.related = facts.related;
    std::string note = facts.note;
    shorten(note, kMaxNote);
    event.note = note;
    event.type = facts.type;
    auto sending = series_.observe(event);
    if (!sending) co_return;
    const corev1::ObjectReference& about = facts.regarding;
    std::string about_ = about.kind + "/" + about.namespace_ + "/" + about.name + "/" + about.uid;
    if (!spam_.accepts(about_ + "/" + facts.type)) {
      series_.forget(sending->key);
      co_return;
    }
    const auto written = co_await send(sending->event);
    if (!written) series_.forget(sending->key);
  }

  Task<void> sendAll(std::vector<eventsv1::Event> events) {
    const TaskContext& context = co_await CurrentContext();
    for (const eventsv1::Event& event : events) {
      if (context.stop.stop_requested()) co_return;
      try {
        co_await send(event);
      } catch (const std::exception& error) {
        log_.error("event \"{}\": {}", event.metadata.name, error.what());
      }
    }
  }

  Task<std::optional<eventsv1::Event>> send(const eventsv1::Event& event) {
    if (!event.series) return send(event, std::string());
    eventsv1::Event old = event;
    old.series = nullptr;
    return send(event, createTwoWayMergePatch(old, event));
  }

  // Sends an event. Returns it as the server has stored it, or nothing if it was given up.
  template <class Event>
  Task<std::optional<Event>> send(Event event, std::string patch) {
    const ResourceClient<Event> blocking(rest_, event.metadata.namespace_);
    const AsyncResourceClient<Event> client = blocking.async();
    for (int tries = 1;; ++tries) {
      try {
        if (!patch.empty()) {
          try {
            co_return co_await client.patch(event.metadata.name, mergePatchType<Event>(), patch);
          } catch (const ApiError& error) {
            if (!isNotFound(error)) throw;  // the event has expired: create it again
          }
        }
        event.metadata.resourceVersion = {};
        co_return co_await client.create(event);
      } catch (const ApiError& error) {
        // The first event of the series may have been created in between.
        if (!(isAlreadyExists(error) && !patch.empty())) {
          log_.error("event \"{}\": the server refused it: {}", event.metadata.name, error.what());
          co_return std::nullopt;
        }
      } catch (const TransportError& error) {
        log_.warning("event \"{}\": {}", event.metadata.name, error.what());
      } catch (const TimeoutError& error) {
        log_.warning("event \"{}\": {}", event.metadata.name, error.what());
      } catch (const Error& error) {
        log_.error("event \"{}\": {}", event.metadata.name, error.what());
        co_return std::nullopt;
      }
      if (tries >= options_.maxTries) {
        log_.error("event \"{}\": given up after {} tries", event.metadata.name, tries);
        co_return std::nullopt;
      }
      // The pause is random, so that programs do not all return at once when the server does.
      Backoff wait({.initial = options_.retryPeriod, .factor = 1, .jitter = 0.25}, clock_);
      Task<bool> pause = sleepFor(wait.next().value(), clock_);
      const bool again = co_await withStop(std::move(pause), closing_.get_token());
      if (!again) co_return std::nullopt;
    }
  }

  EventRecorderOptions options_;
  Clock& clock_;
  const RestClient rest_;

  // Used by the coroutine only.
  EventCorrelator correlator_;
  EventSeriesCounter series_;
  EventSpamFilter spam_;

  Counter& dropped_;
  Logger log_;
  std::atomic<std::uint64_t> lost_ = 0;
  std::stop_source closing_;  // ends the pauses between tries

  Mutex queueMutex_;
  Condition changed_{queueMutex_};
  std::deque<Recorded> queue_ KUBE_GUARDED_BY(queueMutex_);
  std::uint64_t recordedCount_ KUBE_GUARDED_BY(queueMutex_) = 0;
  std::uint64_t handledCount_ KUBE_GUARDED_BY(queueMutex_) = 0;
  bool closed_ KUBE_GUARDED_BY(queueMutex_) = false;
  bool running_ KUBE_GUARDED_BY(queueMutex_) = false;  // the coroutine has begun and not ended
  std::unique_ptr<TaskScope> tasks_ KUBE_GUARDED_BY(queueMutex_) =
      std::make_unique<TaskScope>(taskThreadsExecutor());
};

EventRecorder::EventRecorder(const RestClient& rest, EventRecorderOptions options)
    : sender_(std::make_shared<detail::EventSender>(rest, std::move(options))) {}
EventRecorder::~EventRecorder() { detail::EventSender::close(sender_); }

void EventRecorder::record(EventFacts facts) { sender_->record(std::move(facts)); }
bool EventRecorder::flush(const std::stop_token& stop) {
  return detail::runBlocking(async().flush(), stop);
}
void EventRecorder::shutDown() { detail::runBlocking(async().shutDown(), {}); }
AsyncEventRecorder EventRecorder::async() const noexcept { return AsyncEventRecorder(sender_); }
std::uint64_t EventRecorder::dropped() const noexcept { return sender_->lost(); }

Task<bool> AsyncEventRecorder::flush() const { return detail::EventSender::flush(sender_); }
Task<void> AsyncEventRecorder::shutDown() const { return detail::EventSender::shutDown(sender_); }

}  // namespace kube
