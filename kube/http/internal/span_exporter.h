// The queue of ended spans, and the coroutine that sends them.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/log.h"
#include "kube/base/metrics.h"
#include "kube/base/task_scope.h"
#include "kube/http/otlp_tracer.h"
#include "kube/http/transport.h"

namespace kube::detail {

class SpanExporter {
 public:
  /// Throws ConfigError.
  explicit SpanExporter(OtlpOptions options);

  const OtlpOptions& options() const noexcept { return options_; }
  Clock& clock() const noexcept { return clock_; }

  /// Queues a span: its JSON.
  void add(std::string span) noexcept;
  static Task<bool> flush(std::shared_ptr<SpanExporter> self);
  /// Sends what is left, for a limited time. Later spans are dropped.
  static void close(const std::shared_ptr<SpanExporter>& self) noexcept;
  std::uint64_t dropped() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  enum class Outcome : unsigned char { Sent, Refused, TryAgain };

  static Task<void> shutDown(std::shared_ptr<SpanExporter> self);
  void giveUp();
  void begin() KUBE_REQUIRES(queueMutex_);
  Task<void> run();
  Task<std::vector<std::string>> nextBatch();
  Task<void> deliver(const std::vector<std::string>& batch);
  Task<Outcome> post(std::string body);
  std::string bodyOf(const std::vector<std::string>& batch) const;
  Outcome failed(std::string_view why, Outcome outcome);
  void drop(std::uint64_t spans) noexcept;

  const OtlpOptions options_;
  const std::string url_;
  const std::string head_;  // of each body
  Clock& clock_;
  Counter& sent_;
  Counter& dropped_;
  const Logger log_;
  const Transport transport_;
  std::atomic<std::uint64_t> lost_ = 0;
  std::stop_source closing_;  // ends the pauses between tries
  bool failing_ = false;      // used by the coroutine only

  Mutex queueMutex_;
  Condition changed_{queueMutex_};
  std::deque<std::string> queue_ KUBE_GUARDED_BY(queueMutex_);
  std::uint64_t added_ KUBE_GUARDED_BY(queueMutex_) = 0;
  std::uint64_t handled_ KUBE_GUARDED_BY(queueMutex_) = 0;
  std::uint64_t wanted_ KUBE_GUARDED_BY(queueMutex_) = 0;  // by flush(): handle up to this one now
  bool closed_ KUBE_GUARDED_BY(queueMutex_) = false;
  bool running_ KUBE_GUARDED_BY(queueMutex_) = false;  // the coroutine has begun and not ended
  std::unique_ptr<TaskScope> tasks_ KUBE_GUARDED_BY(queueMutex_);
};

}  // namespace kube::detail
