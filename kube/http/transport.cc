#include "kube/http/transport.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/join_later.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/internal/text.h"
#include "kube/http/internal/exchange.h"
#include "kube/http/internal/http_engine.h"
#include "kube/http/url.h"

namespace kube {
namespace {

// The largest memory that is reserved for a body because of its Content-Length.
constexpr std::size_t kTrustedLength = 16 << 20;
constexpr std::size_t kBlockBytes = 64 << 10;
constexpr std::size_t kSpares = 3;  // blocks that a stream keeps while large pieces arrive
constexpr std::size_t kLargeChunk = 4 << 10;  // more data is likely to follow a chunk of this size

void throwIfStopped(const HttpRequest& request, const std::stop_token& stop) {
  if (!stop.stop_requested()) return;
  throw CanceledError(fmt::format("{} {}: canceled", request.method, redactedUrl(request.url)));
}

[[noreturn]] void throwShutDown(const detail::Exchange& exchange) {
  throw CanceledError(exchange.describe() + ": the transport was shut down");
}

// Collects a whole answer.
class WholeReceiver final : public HttpReceiver {
 public:
  explicit WholeReceiver(std::size_t maxBodyBytes) : maxBodyBytes_(maxBodyBytes) {}

  /// Completed at the end.
  void setCompletion(std::shared_ptr<detail::Completion> completion) {
    completion_ = std::move(completion);
  }

  HttpResponse wait() {
    detail::Lock lock(doneMutex_);
    changed_.wait(lock, [this]() KUBE_REQUIRES(doneMutex_) { return done_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::move(response_);
  }

  // Owned by the I/O thread until done_.
  void onHeaders(HttpResponse head) override {
    response_ = std::move(head);
    const auto length =
        detail::parseNumber<std::size_t>(response_.headers.get("content-length")).value_or(0);
    response_.body.reserve(std::min({length, maxBodyBytes_, kTrustedLength}));
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
      const detail::Lock lock(doneMutex_);
      error_ = std::move(error);
      done_ = true;
    }
    changed_.notify_one();
    if (completion_) completion_->complete();
  }

 private:
  const std::size_t maxBodyBytes_;
  std::shared_ptr<detail::Completion> completion_;  // set before the call begins
  HttpResponse response_;                           // owned by the I/O thread until done_
  detail::Mutex doneMutex_;
  std::condition_variable changed_;
  std::exception_ptr error_ KUBE_GUARDED_BY(doneMutex_);
  bool done_ KUBE_GUARDED_BY(doneMutex_) = false;
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

// Data that was received and not read yet, in blocks, so that a burst leaves no large buffers
// behind.
class StreamReceiver final : public HttpReceiver {
 public:
  StreamReceiver(std::size_t window, bool wholeOnly) : window_(window), wholeOnly_(wholeOnly) {}

  void waitForHead() {
    Lock lock(blocksMutex_);
    changed_.wait(lock, [this]() KUBE_REQUIRES(blocksMutex_) { return headSeen_ || done_; });
    if (!headSeen_) rethrow();
    headTaken_ = true;
  }
  const HttpResponse& head() const { return head_; }
  /// For the reader, which has seen the head.
  HttpResponse& changeableHead() { return head_; }

  /// Completes when something has come: the head, data, or the end. Returns false if that is so
  /// already.
  bool completeOnChange(const std::shared_ptr<Completion>& completion) {
    const Lock lock(blocksMutex_);
    if (done_ || (headTaken_ ? !blocks_.empty() : headSeen_)) return false;
    waiting_ = completion;
    return true;
  }

  bool hasHead() {
    const Lock lock(blocksMutex_);
    return headSeen_ || done_;
  }
  bool hasSomething() {
    const Lock lock(blocksMutex_);
    return !blocks_.empty() || done_;
  }

  std::optional<std::string_view> read(const HttpExchange& exchange) {
    // Called rarely, because it wakes the I/O thread. The server does not wait while most of the
    // window is open.
    unreturned_ += reading_.size();
    if (unreturned_ >= std::max<std::size_t>(window_ / 4, 1)) {
      exchange.consumed(std::exchange(unreturned_, 0));
    }
    reading_.clear();
    if (!hasSomething()) exchange.drive([this] { return hasSomething(); });
    Lock lock(blocksMutex_);
    changed_.wait(lock, [this]() KUBE_REQUIRES(blocksMutex_) { return !blocks_.empty() || done_; });
    if (!blocks_.empty()) {
      if (reading_.capacity() >= kBlockBytes && spares_.size() < kSpares) {
        spares_.push_back(std::move(reading_));
      }
      reading_ = std::move(blocks_.front());
      blocks_.pop_front();
      return reading_;
    }
    rethrow();
    return std::nullopt;
  }

  void onHeaders(HttpResponse head) override {
    const Lock lock(blocksMutex_);
    head_ = std::move(head);
    headSeen_ = true;
    noteChange();
  }
  std::size_t onBody(std::string_view chunk) override {
    const Lock lock(blocksMutex_);
    while (!chunk.empty()) {
      if (blocks_.empty() || blocks_.back().size() >= kBlockBytes) {
        blocks_.emplace_back();
        if (chunk.size() < kLargeChunk) {
          spares_.clear();  // an event needs little memory, and no more data may follow for long
        } else if (!spares_.empty()) {
          blocks_.back().swap(spares_.back());
          blocks_.back().clear();
          spares_.pop_back();
        } else {
          blocks_.back().reserve(kBlockBytes);
        }
      }
      const std::string_view piece = chunk.substr(0, kBlockBytes - blocks_.back().size());
      blocks_.back().append(piece);
      chunk.remove_prefix(piece.size());
    }
    noteChange();
    return 0;
  }
  void onDone(std::exception_ptr error) noexcept override {
    const Lock lock(blocksMutex_);
    // After a cancellation the rest is not wanted either.
    if (isCancellation(error) || (wholeOnly_ && error)) blocks_.clear();
    failed_ = error != nullptr;
    error_ = std::move(error);
    done_ = true;
    noteChange();
  }

 private:
  void noteChange() KUBE_REQUIRES(blocksMutex_) {
    changed_.notify_one();
    if (const auto waiting = std::exchange(waiting_, nullptr)) waiting->complete();
  }

  // Hands the error to the reader, so that the I/O thread is not the last to release it.
  void rethrow() KUBE_REQUIRES(blocksMutex_) {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    if (failed_) throw TransportError("the answer broke off at an earlier read");
  }

  const std::size_t window_;
  const bool wholeOnly_;
  HttpResponse head_;  // owned by the reader once headSeen_
  Mutex blocksMutex_;
  std::condition_variable changed_;
  std::shared_ptr<Completion> waiting_ KUBE_GUARDED_BY(blocksMutex_);
  bool headTaken_ KUBE_GUARDED_BY(blocksMutex_) = false;
  std::deque<std::string> blocks_ KUBE_GUARDED_BY(blocksMutex_);
  std::vector<std::string> spares_ KUBE_GUARDED_BY(blocksMutex_);  // memory for more blocks
  std::exception_ptr error_ KUBE_GUARDED_BY(blocksMutex_);
  bool failed_ KUBE_GUARDED_BY(blocksMutex_) = false;  // with an error
  bool headSeen_ KUBE_GUARDED_BY(blocksMutex_) = false;
  bool done_ KUBE_GUARDED_BY(blocksMutex_) = false;

  // --- Owned by the reader.
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
  std::swap(onPiece_, moved.onPiece_);
  return *this;
}

HttpStream::~HttpStream() {
  if (receiver_) exchange_.cancel();
}

int HttpStream::status() const { return receiver_->head().status; }
const HttpHeaders& HttpStream::headers() const { return receiver_->head().headers; }
int HttpStream::httpVersion() const { return receiver_->head().httpVersion; }
HttpResponse& HttpStream::head() { return receiver_->changeableHead(); }
std::optional<std::string_view> HttpStream::read() { return seen(receiver_->read(exchange_)); }

void HttpStream::onPiece(std::function<void(std::string_view piece)> see) {
  if (!onPiece_) {
    onPiece_ = std::move(see);
    return;
  }
  onPiece_ = [first = std::move(onPiece_), second = std::move(see)](std::string_view piece) {
    first(piece);
    second(piece);
  };
}

std::optional<std::string_view> HttpStream::seen(std::optional<std::string_view> piece) const {
  if (piece && onPiece_) onPiece_(*piece);
  return piece;
}

std::uint64_t HttpStream::wireBytes() const { return exchange_.exchange_->wireBytes(); }

// Runs the I/O thread from the first call on, while there are handles.
class Transport::Lifetime {
 public:
  explicit Lifetime(TransportOptions options)
      : engine_(std::make_shared<HttpEngine>(std::move(options))) {}

  ~Lifetime() {
    shutdown();
    // After a drop in a callback, the thread ends later; it holds everything that it needs.
    if (thread_.joinable()) joinLater(std::move(thread_));
  }

  void shutdown() {
    engine_->stop();
    if (std::this_thread::get_id() == *threadId_ || engine_->isInside()) return;
    const detail::Lock lock(threadMutex_);
    if (thread_.joinable()) thread_.join();
  }

  /// The engine, for a call. Throws Error if the thread cannot be started.
  const std::shared_ptr<HttpEngine>& engine() {
    std::call_once(started_, [this] { startThread(); });
    return engine_;
  }
  const HttpEngine& idleEngine() const { return *engine_; }

  // Throws Error on a thread that must not block.
  static void checkThread(const HttpEngine& engine) {
    detail::checkMayBlock("HTTP");
    if (!engine.isInside()) return;
    throw Error("HTTP: a callback must not wait for another call; use Transport::start()");
  }

 private:
  void startThread() {
    const detail::Lock lock(threadMutex_);
    thread_ = detail::startingThread("the I/O of a transport", [this] {
      return std::thread([engine = engine_, id = threadId_] {
        *id = std::this_thread::get_id();
        detail::blockSignals();
        pthread_setname_np(pthread_self(), "kubexx-http");
        engine->run();
      });
    });
  }

  const std::shared_ptr<HttpEngine> engine_;
  std::once_flag started_;
  detail::Mutex threadMutex_;
  std::thread thread_ KUBE_GUARDED_BY(threadMutex_);
  // Written by the thread itself, which may outlive this.
  const std::shared_ptr<std::atomic<std::thread::id>> threadId_ =
      std::make_shared<std::atomic<std::thread::id>>();
};

Transport::Transport(TransportOptions options)
    : lifetime_(std::make_shared<Lifetime>(std::move(options))) {}

HttpExchange Transport::start(HttpRequest request, std::shared_ptr<HttpReceiver> receiver) const {
  // From here on only the engine is used: this handle may be destroyed before the call is over.
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
  return sendBy(lifetime_->engine(), std::move(request), stop);
}

HttpResponse Transport::sendBy(std::shared_ptr<HttpEngine> engine, HttpRequest request,
                               const std::stop_token& stop) {
  Lifetime::checkThread(*engine);
  throwIfStopped(request, stop);
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
  return openBy(lifetime_->engine(), std::move(request), stop);
}

HttpStream Transport::openBy(std::shared_ptr<HttpEngine> engine, HttpRequest request,
                             const std::stop_token& stop) {
  Lifetime::checkThread(*engine);
  throwIfStopped(request, stop);
  const auto receiver =
      std::make_shared<detail::StreamReceiver>(engine->options().streamBuffer, request.wholeOnly);
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

namespace {

// Waits for the end of an exchange, and cancels it if the coroutine is destroyed before.
class ExchangeEnd {
 public:
  ExchangeEnd(std::shared_ptr<HttpEngine> engine, std::shared_ptr<Exchange> exchange,
              std::shared_ptr<WholeReceiver> receiver)
      : engine_(std::move(engine)),
        exchange_(std::move(exchange)),
        receiver_(std::move(receiver)) {}
  ~ExchangeEnd() {
    if (!completion_ || over_) return;
    completion_->abandon();
    engine_->cancel(exchange_);
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  KUBE_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> self) {
    const detail::TaskContext& context = self.promise().context();
    const auto completion = std::make_shared<detail::Completion>(self, context.executor);
    receiver_->setCompletion(completion);
    const auto submitted = engine_->submit(exchange_, !engine_->isInside());
    if (submitted == HttpEngine::Submitted::Refused) throwShutDown(*exchange_);
    completion_ = completion;
    if (context.stop.stop_possible()) onStop_.emplace(context.stop, Cancel{engine_, exchange_});
    return completion->wait();
  }
  void await_resume() noexcept { over_ = true; }

 private:
  struct Cancel {
    std::shared_ptr<HttpEngine> engine;
    std::shared_ptr<Exchange> exchange;
    void operator()() const { engine->cancel(exchange); }
  };
  const std::shared_ptr<HttpEngine> engine_;
  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<WholeReceiver> receiver_;
  std::shared_ptr<detail::Completion> completion_;
  std::optional<std::stop_callback<Cancel>> onStop_;
  bool over_ = false;
};

// Waits until a stream has something new or, with `endOnStop`, a stop is requested.
class StreamChange {
 public:
  StreamChange(detail::StreamReceiver& receiver, bool endOnStop)
      : receiver_(receiver), endOnStop_(endOnStop) {}
  ~StreamChange() {
    if (completion_) completion_->abandon();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  KUBE_SUSPENDS bool await_suspend(std::coroutine_handle<Promise> self) {
    const detail::TaskContext& context = self.promise().context();
    const auto completion = std::make_shared<detail::Completion>(self, context.executor);
    completion_ = completion;
    if (!receiver_.completeOnChange(completion)) return false;
    if (endOnStop_ && context.stop.stop_possible()) {
      onStop_.emplace(context.stop, Complete{completion});
    }
    return completion->wait();
  }
  void await_resume() const noexcept {}

 private:
  struct Complete {
    std::shared_ptr<detail::Completion> completion;
    void operator()() const noexcept { completion->complete(); }
  };
  detail::StreamReceiver& receiver_;
  const bool endOnStop_;
  std::shared_ptr<detail::Completion> completion_;
  std::optional<std::stop_callback<Complete>> onStop_;
};

}  // namespace

// A task holds the engine, not the transport, whose last handle ends all calls.
Task<HttpResponse> Transport::sendAsync(HttpRequest request) const {
  return sendTask(lifetime_->engine(), std::move(request));
}

Task<HttpResponse> Transport::sendTask(std::shared_ptr<HttpEngine> engine, HttpRequest request) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  if (context.mayBlock) co_return sendBy(engine, std::move(request), context.stop);
  throwIfStopped(request, context.stop);
  const auto receiver = std::make_shared<WholeReceiver>(request.maxBodyBytes);
  ExchangeEnd end(engine, std::make_shared<Exchange>(std::move(request), receiver), receiver);
  co_await end;
  co_return receiver->wait();
}

Task<HttpStream> Transport::openAsync(HttpRequest request) const {
  return openTask(lifetime_->engine(), std::move(request));
}

Task<HttpStream> Transport::openTask(std::shared_ptr<HttpEngine> engine, HttpRequest request) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  if (context.mayBlock) co_return openBy(engine, std::move(request), context.stop);
  throwIfStopped(request, context.stop);
  const auto receiver =
      std::make_shared<detail::StreamReceiver>(engine->options().streamBuffer, request.wholeOnly);
  const auto exchange = std::make_shared<Exchange>(std::move(request), receiver);
  const auto submitted = engine->submit(exchange, !engine->isInside());
  if (submitted == HttpEngine::Submitted::Refused) throwShutDown(*exchange);
  const HttpExchange handle(engine, exchange);
  std::unique_ptr<HttpStream::CancelOnStop> cancel;
  if (context.stop.stop_possible()) {
    cancel = std::make_unique<HttpStream::CancelOnStop>(context.stop, handle);
  }
  HttpStream stream(receiver, handle, std::move(cancel));
  while (!receiver->hasHead()) {
    StreamChange change(*receiver, false);  // a stop cancels the exchange
    co_await change;
  }
  receiver->waitForHead();
  // From here on, a stop ends each read by itself. The stream may outlive the tree that has opened
  // it: whenAny() stops its tasks when the first has a result.
  stream.stop_.reset();
  co_return stream;
}

Task<std::optional<std::string_view>> HttpStream::readAsync() {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  if (!context.mayBlock) {
    for (;;) {
      if (context.stop.stop_requested()) {
        throw CanceledError(exchange_.exchange_->describe() + ": canceled");
      }
      if (receiver_->hasSomething()) break;
      StreamChange change(*receiver_, true);
      co_await change;
    }
  }
  co_return seen(receiver_->read(exchange_));
}

void Transport::shutdown() const { lifetime_->shutdown(); }

Executor Transport::executor() const {
  return Executor(
      [lifetime = lifetime_](Executor::Work work) { lifetime->engine()->post(std::move(work)); });
}

std::shared_ptr<detail::EventLoop> Transport::loop() const {
  const Engine& engine = lifetime_->engine();
  return {engine, &engine->loop()};
}

TransportStats Transport::stats() const { return lifetime_->idleEngine().stats(); }

}  // namespace kube
