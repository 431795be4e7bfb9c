#include "kube/http/transport.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/join_later.h"
#include "kube/base/internal/start_thread.h"
#include "kube/http/internal/exchange.h"
#include "kube/http/internal/http_engine.h"
#include "kube/http/url.h"

namespace kube {
namespace {

// The part of a body that is made room for on the word of Content-Length.
constexpr std::size_t trustedLength = 16 << 20;
constexpr std::size_t blockBytes = 64 << 10;
constexpr std::size_t manyBytes = 4 << 10;  // at a time: more are likely to follow

void throwIfStopped(const HttpRequest& request, const std::stop_token& stop) {
  if (!stop.stop_requested()) return;
  throw CanceledError(fmt::format("{} {}: canceled", request.method, redactedUrl(request.url)));
}

[[noreturn]] void throwShutDown(const detail::Exchange& exchange) {
  throw CanceledError(exchange.describe() + ": the transport was shut down");
}

// Gathers a whole answer.
class WholeReceiver final : public HttpReceiver {
 public:
  explicit WholeReceiver(std::size_t maxBodyBytes) : maxBodyBytes_(maxBodyBytes) {}

  HttpResponse wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::move(response_);
  }

  // The response is the I/O thread's until done_.
  void onHeaders(HttpResponse head) override {
    response_ = std::move(head);
    const std::string_view text = response_.headers.get("content-length");
    std::size_t length = 0;
    std::from_chars(text.data(), text.data() + text.size(), length);
    response_.body.reserve(std::min({length, maxBodyBytes_, trustedLength}));
  }
  std::size_t onBody(std::string_view chunk) override {
    if (chunk.size() > maxBodyBytes_ - response_.body.size()) {
      throw TransportError(
          fmt::format("the answer is longer than the {} bytes allowed", maxBodyBytes_), true, true);
    }
    response_.body.append(chunk);
    return chunk.size();
  }
  void onDone(std::exception_ptr error) noexcept override {
    {
      std::lock_guard lock(mutex_);
      error_ = std::move(error);
      done_ = true;
    }
    changed_.notify_one();
  }

 private:
  const std::size_t maxBodyBytes_;
  HttpResponse response_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr error_;
  bool done_ = false;
};

}  // namespace

namespace detail {

namespace {

bool isCancellation(const std::exception_ptr& error) noexcept {
  if (!error) return false;
  try {
    std::rethrow_exception(error);
  } catch (const CanceledError&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

// What the I/O thread has received and the reader has not read yet, in blocks: a burst leaves no
// large buffers behind.
class StreamReceiver final : public HttpReceiver {
 public:
  StreamReceiver(std::size_t window, bool wholeOnly) : window_(window), wholeOnly_(wholeOnly) {}

  void waitForHead() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return headSeen_ || done_; });
    if (!headSeen_) rethrow();
  }
  const HttpResponse& head() const { return head_; }

  bool hasHead() {
    const std::lock_guard lock(mutex_);
    return headSeen_ || done_;
  }
  bool hasSomething() {
    const std::lock_guard lock(mutex_);
    return !blocks_.empty() || done_;
  }

  std::optional<std::string_view> read(const HttpExchange& exchange) {
    // Rarely, since it wakes the I/O thread: as long as most of the window is open, nobody waits.
    unreturned_ += reading_.size();
    if (unreturned_ >= std::max<std::size_t>(window_ / 4, 1)) {
      exchange.consumed(std::exchange(unreturned_, 0));
    }
    reading_.clear();
    if (!hasSomething()) exchange.drive([this] { return hasSomething(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !blocks_.empty() || done_; });
    if (!blocks_.empty()) {
      if (reading_.capacity() > spare_.capacity()) spare_.swap(reading_);
      reading_ = std::move(blocks_.front());
      blocks_.pop_front();
      return reading_;
    }
    rethrow();
    return std::nullopt;
  }

  void onHeaders(HttpResponse head) override {
    std::lock_guard lock(mutex_);
    head_ = std::move(head);
    headSeen_ = true;
    changed_.notify_one();
  }
  std::size_t onBody(std::string_view chunk) override {
    std::lock_guard lock(mutex_);
    while (!chunk.empty()) {
      if (blocks_.empty() || blocks_.back().size() >= blockBytes) {
        blocks_.push_back(std::exchange(spare_, {}));
        blocks_.back().clear();
        if (chunk.size() >= manyBytes) blocks_.back().reserve(blockBytes);
      }
      const std::string_view piece = chunk.substr(0, blockBytes - blocks_.back().size());
      blocks_.back().append(piece);
      chunk.remove_prefix(piece.size());
    }
    changed_.notify_one();
    return 0;
  }
  void onDone(std::exception_ptr error) noexcept override {
    std::lock_guard lock(mutex_);
    // Who gives up does not want the rest either.
    if (isCancellation(error) || (wholeOnly_ && error)) blocks_.clear();
    failed_ = error != nullptr;
    error_ = std::move(error);
    done_ = true;
    changed_.notify_one();
  }

 private:
  // The error is the reader's alone from then on: the last to drop it should not be the I/O thread.
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    if (failed_) throw TransportError("the answer has broken off before");
  }

  const std::size_t window_;
  const bool wholeOnly_;
  HttpResponse head_;  // the reader's once headSeen_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> blocks_;
  std::string spare_;
  std::exception_ptr error_;
  bool failed_ = false;  // there was an error
  bool headSeen_ = false;
  bool done_ = false;

  // --- The reader's.
  std::string reading_;
  std::size_t unreturned_ = 0;
};

}  // namespace detail

using detail::Exchange;
using detail::HttpEngine;

HttpReceiver::~HttpReceiver() = default;
void HttpReceiver::onStart(const HttpExchange&) {}
void HttpReceiver::onRoom() {}
void HttpReceiver::onQuiet() {}

void HttpExchange::cancel() const {
  if (engine_) engine_->cancel(exchange_);
}

void HttpExchange::drive(const std::function<bool()>& enough) const {
  if (engine_) engine_->drive(*exchange_, false, enough);
}

void HttpExchange::consumed(std::size_t bytes) const {
  if (engine_) engine_->consumed(exchange_, bytes);
}

bool HttpExchange::write(const std::function<void(std::string& out)>& append) const {
  return engine_ && engine_->write(exchange_, append);
}

std::size_t HttpExchange::queued() const { return exchange_ ? exchange_->queued() : 0; }

class HttpStream::CancelOnStop {
 public:
  CancelOnStop(const std::stop_token& stop, const HttpExchange& exchange)
      : callback_(stop, Cancel{exchange}) {}

 private:
  struct Cancel {
    HttpExchange exchange;
    void operator()() const { exchange.cancel(); }
  };
  std::stop_callback<Cancel> callback_;
};

HttpStream::HttpStream(std::shared_ptr<detail::StreamReceiver> receiver, HttpExchange exchange,
                       std::unique_ptr<CancelOnStop> stop)
    : receiver_(std::move(receiver)), exchange_(std::move(exchange)), stop_(std::move(stop)) {}

HttpStream::HttpStream(HttpStream&&) noexcept = default;

HttpStream& HttpStream::operator=(HttpStream&& other) noexcept {
  HttpStream moved(std::move(other));
  std::swap(receiver_, moved.receiver_);
  std::swap(exchange_, moved.exchange_);
  std::swap(stop_, moved.stop_);
  return *this;
}

HttpStream::~HttpStream() {
  if (receiver_) exchange_.cancel();
}

int HttpStream::status() const { return receiver_->head().status; }
const HttpHeaders& HttpStream::headers() const { return receiver_->head().headers; }
int HttpStream::httpVersion() const { return receiver_->head().httpVersion; }
std::optional<std::string_view> HttpStream::read() { return receiver_->read(exchange_); }

std::uint64_t HttpStream::wireBytes() const { return exchange_.exchange_->wireBytes(); }

// Has the I/O thread run for as long as there are handles.
class Transport::Lifetime {
 public:
  explicit Lifetime(TransportOptions options)
      : engine_(std::make_shared<HttpEngine>(std::move(options))),
        thread_(detail::startingThread("the I/O of a transport", [this] {
          return std::thread([engine = engine_] {
            detail::blockSignals();
            pthread_setname_np(pthread_self(), "kubexx-http");
            engine->run();
          });
        })) {}

  ~Lifetime() {
    shutdown();
    // Dropped by a callback: the thread ends after it, and holds all it needs.
    if (thread_.joinable()) joinLater(std::move(thread_));
  }

  void shutdown() {
    engine_->stop();
    if (std::this_thread::get_id() == threadId_ || engine_->isInside()) return;
    std::lock_guard lock(mutex_);
    if (thread_.joinable()) thread_.join();
  }

  const std::shared_ptr<HttpEngine>& engine() const { return engine_; }

  // Before a blocking call.
  void checkThread() const {
    if (!engine_->isInside()) return;
    throw Error("HTTP: a callback must not wait for another call: use Transport::start()");
  }

 private:
  const std::shared_ptr<HttpEngine> engine_;
  std::mutex mutex_;  // of joining
  std::thread thread_;
  const std::thread::id threadId_ = thread_.get_id();
};

Transport::Transport(TransportOptions options)
    : lifetime_(std::make_shared<Lifetime>(std::move(options))) {}

HttpExchange Transport::start(HttpRequest request, std::shared_ptr<HttpReceiver> receiver) const {
  // From here on only the engine is used: this handle may be gone before the call is over.
  const std::shared_ptr<HttpEngine> engine = lifetime_->engine();
  auto exchange = std::make_shared<Exchange>(std::move(request), receiver);
  if (exchange->upgrades()) receiver->onStart({engine, exchange});
  if (engine->submit(exchange, false) == HttpEngine::Submitted::Refused) {
    if (exchange->upgrades()) receiver->onStart({});
    throwShutDown(*exchange);
  }
  return {engine, std::move(exchange)};
}

HttpResponse Transport::send(HttpRequest request, std::stop_token stop) const {
  lifetime_->checkThread();
  throwIfStopped(request, stop);
  const std::shared_ptr<HttpEngine> engine = lifetime_->engine();
  const auto receiver = std::make_shared<WholeReceiver>(request.maxBodyBytes);
  const auto exchange = std::make_shared<Exchange>(std::move(request), receiver);
  const auto submitted = engine->submit(exchange, true, true);
  if (submitted == HttpEngine::Submitted::Refused) throwShutDown(*exchange);
  const auto finish = [&] {
    engine->drive(*exchange, submitted == HttpEngine::Submitted::Lent);
    return receiver->wait();
  };
  if (!stop.stop_possible()) return finish();
  const std::stop_callback cancel(stop, [&] { engine->cancel(exchange); });
  return finish();
}

HttpStream Transport::open(HttpRequest request, std::stop_token stop) const {
  lifetime_->checkThread();
  throwIfStopped(request, stop);
  const auto receiver = std::make_shared<detail::StreamReceiver>(
      lifetime_->engine()->options().streamBuffer, request.wholeOnly);
  const std::shared_ptr<HttpEngine> engine = lifetime_->engine();
  const auto exchange = std::make_shared<Exchange>(std::move(request), receiver);
  const auto submitted = engine->submit(exchange, true, true);
  if (submitted == HttpEngine::Submitted::Refused) throwShutDown(*exchange);
  const HttpExchange handle(engine, exchange);
  std::unique_ptr<HttpStream::CancelOnStop> cancel;
  if (stop.stop_possible()) cancel = std::make_unique<HttpStream::CancelOnStop>(stop, handle);
  HttpStream stream(receiver, handle, std::move(cancel));
  engine->drive(*exchange, submitted == HttpEngine::Submitted::Lent,
                [&] { return receiver->hasHead(); });
  receiver->waitForHead();
  return stream;
}

void Transport::shutdown() const { lifetime_->shutdown(); }

TransportStats Transport::stats() const { return lifetime_->engine()->stats(); }

}  // namespace kube
