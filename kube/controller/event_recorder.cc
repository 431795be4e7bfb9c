#include "kube/controller/event_recorder.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <optional>
#include <stop_token>
#include <thread>
#include <variant>

#include "kube/api/events/v1.h"
#include "kube/base/backoff.h"
#include "kube/base/error.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/log.h"
#include "kube/client/resource_client.h"
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

// The queue, and the thread that empties it.
class EventRecorder::Sender {
 public:
  Sender(const RestClient& rest, EventRecorderOptions options)
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
    thread_ = detail::startingThread("the event recorder of " + options_.component,
                                     [this] { return std::thread([this] { run(); }); });
  }

  ~Sender() { shutDown(); }

  void record(EventFacts facts) {
    if (facts.type != kEventNormal && facts.type != kEventWarning) {
      log_.error("event \"{}\": the type must be Normal or Warning, not \"{}\"", facts.reason,
                 facts.type);
      return;
    }
    Recorded recorded{std::move(facts), clock_.wallNow()};
    {
      const detail::Lock lock(queueMutex_);
      if (!closed_ && queue_.size() < options_.queueSize) {
        queue_.push_back(std::move(recorded));
        ++recordedCount_;
        changed_.notify_all();
        return;
      }
    }
    // Logged without the lock, which the sending thread and other callers wait for.
    lost_.fetch_add(1, std::memory_order_relaxed);
    dropped_.add();
    log_.warning(
        "event \"{}\" about {} \"{}\" is dropped: the queue is full, or the recorder is shut down",
        recorded.facts.reason, recorded.facts.regarding.kind, recorded.facts.regarding.name);
  }

  bool flush(const std::stop_token& stop) {
    detail::Lock lock(queueMutex_);
    const std::uint64_t wanted = recordedCount_;
    return changed_.wait(lock, stop,
                         [&]() KUBE_REQUIRES(queueMutex_) { return handledCount_ >= wanted; });
  }

  void shutDown() {
    {
      const detail::Lock lock(queueMutex_);
      closed_ = true;
      changed_.notify_all();
    }
    closing_.request_stop();
    const detail::Lock joining(threadMutex_);
    if (!thread_.joinable()) return;
    {
      detail::Lock lock(queueMutex_);
      clock_.waitFor(changed_, lock, {}, options_.flushTimeout,
                     [&]() KUBE_REQUIRES(queueMutex_) { return ended_; });
    }
    abort_.request_stop();
    thread_.join();
  }

  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Recorded {
    EventFacts facts;
    Clock::WallTime time;
  };

  void run() {
    auto nextFinish = clock_.deadlineAfter(EventSeriesCounter::kFinishAfter);
    auto nextRefresh = clock_.deadlineAfter(EventSeriesCounter::kRefreshEvery);
    const bool series = options_.api == EventApi::Events;
    for (;;) {
      std::optional<Recorded> next;
      {
        detail::Lock lock(queueMutex_);
        const auto deadline = series ? std::min(nextFinish, nextRefresh) : Clock::noDeadline;
        clock_.waitUntil(changed_, lock, {}, deadline,
                         [&]() KUBE_REQUIRES(queueMutex_) { return closed_ || !queue_.empty(); });
        if (!queue_.empty()) {
          next = std::move(queue_.front());
          queue_.pop_front();
        } else if (closed_) {
          break;
        }
      }
      if (next) {
        handle(std::move(*next));
        const detail::Lock lock(queueMutex_);
        ++handledCount_;
        changed_.notify_all();
      }
      const auto now = clock_.now();
      if (series && now >= nextFinish) {
        nextFinish = clock_.deadlineAfter(EventSeriesCounter::kFinishAfter);
        sendAll(series_.finish());
      }
      if (series && now >= nextRefresh) {
        nextRefresh = clock_.deadlineAfter(EventSeriesCounter::kRefreshEvery);
        sendAll(series_.refresh());
      }
    }
    if (series) sendAll(series_.finishAll());
    const detail::Lock lock(queueMutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void handle(Recorded recorded) {
    try {
      if (options_.api == EventApi::Core) {
        handleCore(recorded);
      } else {
        handleSeries(recorded);
      }
    } catch (const std::exception& error) {
      log_.error("event \"{}\": {}", recorded.facts.reason, error.what());
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

  void handleCore(const Recorded& recorded) {
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
    if (result.skip) return;
    const auto written = send(result.event, result.patch);
    if (written) correlator_.written(result.key, *written);
  }

  void handleSeries(const Recorded& recorded) {
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
    if (!sending) return;
    const corev1::ObjectReference& about = facts.regarding;
    std::string about_ = about.kind + "/" + about.namespace_ + "/" + about.name + "/" + about.uid;
    if (!spam_.accepts(about_ + "/" + facts.type)) {
      series_.forget(sending->key);
      return;
    }
    if (!send(sending->event)) series_.forget(sending->key);
  }

  void sendAll(const std::vector<eventsv1::Event>& events) {
    for (const eventsv1::Event& event : events) {
      if (abort_.stop_requested()) return;
      send(event);
    }
  }

  std::optional<eventsv1::Event> send(const eventsv1::Event& event) {
    if (!event.series) return send(event, std::string());
    eventsv1::Event old = event;
    old.series = nullptr;
    return send(event, createTwoWayMergePatch(old, event));
  }

  // Sends an event. Returns it as the server has stored it, or nothing if it was given up.
  template <class Event>
  std::optional<Event> send(Event event, const std::string& patch) {
    const ResourceClient<Event> client(rest_, event.metadata.namespace_);
    const std::stop_token abort = abort_.get_token();
    for (int tries = 1;; ++tries) {
      try {
        if (!patch.empty()) {
          try {
            return client.patch(event.metadata.name, mergePatchType<Event>(), patch, {}, abort);
          } catch (const ApiError& error) {
            if (!isNotFound(error)) throw;  // the event has expired: create it again
          }
        }
        event.metadata.resourceVersion = {};
        return client.create(event, {}, abort);
      } catch (const ApiError& error) {
        // The first event of the series may have been created in between.
        if (!(isAlreadyExists(error) && !patch.empty())) {
          log_.error("event \"{}\": the server refused it: {}", event.metadata.name, error.what());
          return std::nullopt;
        }
      } catch (const TransportError& error) {
        log_.warning("event \"{}\": {}", event.metadata.name, error.what());
      } catch (const TimeoutError& error) {
        log_.warning("event \"{}\": {}", event.metadata.name, error.what());
      } catch (const Error& error) {
        log_.error("event \"{}\": {}", event.metadata.name, error.what());
        return std::nullopt;
      }
      if (tries >= options_.maxTries) {
        log_.error("event \"{}\": given up after {} tries", event.metadata.name, tries);
        return std::nullopt;
      }
      // The pause is random, so that programs do not all return at once when the server does.
      Backoff wait({.initial = options_.retryPeriod, .factor = 1, .jitter = 0.25}, clock_);
      if (!wait.sleep(closing_.get_token())) return std::nullopt;
    }
  }

  EventRecorderOptions options_;
  Clock& clock_;
  RestClient rest_;

  // Used by the thread only.
  EventCorrelator correlator_;
  EventSeriesCounter series_;
  detail::EventSpamFilter spam_;

  Counter& dropped_;
  Logger log_;
  std::atomic<std::uint64_t> lost_ = 0;
  std::stop_source closing_;  // ends the pauses between tries
  std::stop_source abort_;    // ends requests

  detail::Mutex queueMutex_;
  std::condition_variable_any changed_;
  std::deque<Recorded> queue_ KUBE_GUARDED_BY(queueMutex_);
  std::uint64_t recordedCount_ KUBE_GUARDED_BY(queueMutex_) = 0;
  std::uint64_t handledCount_ KUBE_GUARDED_BY(queueMutex_) = 0;
  bool closed_ KUBE_GUARDED_BY(queueMutex_) = false;
  bool ended_ KUBE_GUARDED_BY(queueMutex_) = false;  // the thread has nothing more to send

  detail::Mutex threadMutex_;
  std::thread thread_ KUBE_GUARDED_BY(threadMutex_);
};

EventRecorder::EventRecorder(const RestClient& rest, EventRecorderOptions options)
    : sender_(std::make_unique<Sender>(rest, std::move(options))) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::record(EventFacts facts) { sender_->record(std::move(facts)); }
bool EventRecorder::flush(const std::stop_token& stop) { return sender_->flush(stop); }
void EventRecorder::shutDown() { sender_->shutDown(); }
std::uint64_t EventRecorder::dropped() const noexcept { return sender_->lost(); }

}  // namespace kube
