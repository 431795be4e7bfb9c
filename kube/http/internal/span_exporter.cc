#include "kube/http/internal/span_exporter.h"

#include <errno.h>  // program_invocation_short_name
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "kube/base/backoff.h"
#include "kube/base/error.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/json_text.h"
#include "kube/base/internal/thread_tree.h"
#include "kube/base/version.h"
#include "kube/http/url.h"

namespace kube::detail {
namespace {

constexpr std::size_t kMaxAnswer = 64 << 10;
constexpr std::string_view kTail = "]}]}]}";

std::string collectorUrl(const std::string& endpoint) {
  const Url url = parseUrl(endpoint);  // throws for a URL that is none
  if (url.target != "/") return endpoint;
  return endpoint + (endpoint.ends_with('/') ? "v1/traces" : "/v1/traces");
}

std::string headOf(const OtlpOptions& options) {
  std::string text = R"({"resourceSpans":[{"resource":{"attributes":[)";
  auto add = [&text, first = true](std::string_view key, std::string_view value) mutable {
    text += std::exchange(first, false) ? R"({"key":)" : R"(,{"key":)";
    appendJsonString(text, key);
    text += R"(,"value":{"stringValue":)";
    appendJsonString(text, value);
    text += "}}";
  };
  add("service.name", options.serviceName);
  for (const HttpHeader& attribute : options.resource) add(attribute.name, attribute.value);
  text += R"(]},"scopeSpans":[{"scope":{"name":"kubexx","version":)";
  appendJsonString(text, version());
  return text + R"(},"spans":[)";
}

OtlpOptions checked(OtlpOptions options) {
  if (!(options.sampleRatio >= 0 && options.sampleRatio <= 1)) {
    throw ConfigError("OtlpOptions: sampleRatio must be from 0 to 1");
  }
  if (options.maxQueue == 0 || options.maxBatch == 0 || options.maxTries < 1) {
    throw ConfigError("OtlpOptions: maxQueue, maxBatch and maxTries must be 1 or more");
  }
  if (options.serviceName.empty()) {
    options.serviceName = fmt::format("unknown_service:{}", program_invocation_short_name);
  }
  return options;
}

}  // namespace

SpanExporter::SpanExporter(OtlpOptions options)
    : options_(checked(std::move(options))),
      url_(collectorUrl(options_.endpoint)),
      head_(headOf(options_)),
      clock_(orReal(options_.clock)),
      sent_(orDefault(options_.metrics)
                .counter("trace_spans_sent_total", "Spans that the collector has taken.")),
      dropped_(orDefault(options_.metrics)
                   .counter("trace_spans_dropped_total",
                            "Spans lost: the queue was full, or the collector did not take them.")),
      log_(Logger("trace").with("collector", redactedUrl(url_))),
      transport_(TransportOptions{.tls = options_.tls, .proxy = options_.proxy}),
      tasks_(std::make_unique<TaskScope>(taskThreadsExecutor())) {}

void SpanExporter::add(std::string span) noexcept {
  bool accepted = false;
  guarded(log_, "the queue of spans", [&] {
    const Lock lock(queueMutex_);
    if (closed_ || queue_.size() >= options_.maxQueue) return;
    queue_.push_back(std::move(span));
    ++added_;
    accepted = true;
    if (queue_.size() == 1 || queue_.size() >= options_.maxBatch) changed_.notifyAll();
    begin();
  });
  if (!accepted) drop(1);
}

// Begins the coroutine if there is something to do. Throws Error if there is no thread for it.
void SpanExporter::begin() {
  if (running_ || queue_.empty() || tasks_ == nullptr) return;
  running_ = true;
  try {
    tasks_->start(run(), "the export of traces");
  } catch (const Error&) {
    running_ = false;
    throw;
  }
}

Task<bool> SpanExporter::flush(std::shared_ptr<SpanExporter> self) {
  std::uint64_t wanted = 0;
  {
    const Lock lock(self->queueMutex_);
    wanted = self->wanted_ = self->added_;
    self->changed_.notifyAll();
    self->begin();
  }
  const auto handled = [&self, wanted]()
                           KUBE_REQUIRES(self->queueMutex_) { return self->handled_ >= wanted; };
  co_return co_await self->changed_.wait(handled);
}

Task<void> SpanExporter::shutDown(std::shared_ptr<SpanExporter> self) {
  {
    const Lock lock(self->queueMutex_);
    self->closed_ = true;
    self->changed_.notifyAll();
    self->begin();
  }
  self->closing_.request_stop();
  const auto ended = [&self]() KUBE_REQUIRES(self->queueMutex_) { return !self->running_; };
  const auto deadline = self->clock_.deadlineAfter(self->options_.shutdownTimeout);
  co_await self->changed_.waitUntil(ended, self->clock_, deadline);
}

void SpanExporter::close(const std::shared_ptr<SpanExporter>& self) noexcept {
  guarded(self->log_, "the end of the export", [&self] { runBlocking(shutDown(self), {}); });
  self->giveUp();
}

// Ends the coroutine, and drops what it has not handled.
void SpanExporter::giveUp() {
  std::unique_ptr<TaskScope> tasks;
  {
    const Lock lock(queueMutex_);
    closed_ = true;
    tasks.swap(tasks_);
  }
  tasks.reset();
  std::deque<std::string> destroyed;  // without the lock
  const Lock lock(queueMutex_);
  drop(added_ - std::exchange(handled_, added_));
  destroyed.swap(queue_);
  running_ = false;
  changed_.notifyAll();
}

void SpanExporter::drop(std::uint64_t spans) noexcept {
  lost_.fetch_add(spans, std::memory_order_relaxed);
  dropped_.add(spans);
}

Task<void> SpanExporter::run() {
  for (;;) {
    const std::vector<std::string> batch = co_await nextBatch();
    if (batch.empty()) co_return;
    co_await deliver(batch);
    const Lock lock(queueMutex_);
    handled_ += batch.size();
    changed_.notifyAll();
  }
}

// Waits for a full batch, but not long. Empty: it is over.
Task<std::vector<std::string>> SpanExporter::nextBatch() {
  const auto any = [this]() KUBE_REQUIRES(queueMutex_) { return closed_ || !queue_.empty(); };
  const auto enough = [this]() KUBE_REQUIRES(queueMutex_) {
    return closed_ || queue_.size() >= options_.maxBatch || wanted_ > handled_;
  };
  co_await changed_.wait(any);
  co_await changed_.waitUntil(enough, clock_, clock_.deadlineAfter(options_.interval));
  std::vector<std::string> batch;
  const Lock lock(queueMutex_);
  while (!queue_.empty() && batch.size() < options_.maxBatch) {
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  if (batch.empty()) {
    running_ = false;
    changed_.notifyAll();
  }
  co_return batch;
}

Task<void> SpanExporter::deliver(const std::vector<std::string>& batch) {
  Backoff pauses(
      {.initial = std::chrono::seconds(1), .cap = std::chrono::seconds(30), .jitter = 0.5}, clock_);
  const std::string body = bodyOf(batch);
  for (int tries = 1;; ++tries) {
    const Outcome outcome = co_await post(body);
    if (outcome == Outcome::Sent) {
      sent_.add(batch.size());
      co_return;
    }
    const bool last = tries >= options_.maxTries || closing_.stop_requested();
    if (outcome == Outcome::Refused || last) break;
    Task<bool> pause = sleepFor(pauses.next().value(), clock_);
    co_await withStop(std::move(pause), closing_.get_token());
  }
  drop(batch.size());
}

std::string SpanExporter::bodyOf(const std::vector<std::string>& batch) const {
  std::size_t size = head_.size() + kTail.size();
  for (const std::string& span : batch) size += span.size() + 1;
  std::string body;
  body.reserve(size);
  body += head_;
  for (const std::string& span : batch) {
    if (&span != &batch.front()) body += ',';
    body += span;
  }
  return body += kTail;
}

Task<SpanExporter::Outcome> SpanExporter::post(std::string body) {
  HttpRequest request{.method = "POST",
                      .url = url_,
                      .headers = options_.headers,
                      .body = std::move(body),
                      .timeout = options_.timeout,
                      .maxBodyBytes = kMaxAnswer};
  request.headers.set("Content-Type", "application/json");
  request.headers.set("User-Agent", fmt::format("kubexx/{}", version()));
  try {
    const HttpResponse answer = co_await transport_.sendAsync(std::move(request));
    const int status = answer.status;
    if (status >= 200 && status < 300) {
      if (std::exchange(failing_, false)) log_.warning("traces are sent again");
      co_return Outcome::Sent;
    }
    const bool later = status == 429 || status == 502 || status == 503 || status == 504;
    co_return failed(fmt::format("it answers {}", status),
                     later ? Outcome::TryAgain : Outcome::Refused);
  } catch (const CanceledError&) {
    throw;
  } catch (const TransportError& error) {
    co_return failed(error.what(), error.permanent() ? Outcome::Refused : Outcome::TryAgain);
  } catch (const Error& error) {
    co_return failed(error.what(), Outcome::TryAgain);
  }
}

// Logs the first of a row of failures.
SpanExporter::Outcome SpanExporter::failed(std::string_view why, Outcome outcome) {
  if (!std::exchange(failing_, true)) log_.warning("traces cannot be sent: {}", why);
  return outcome;
}

}  // namespace kube::detail
