// One call on its way through the engine: from its request, over one connection, or several after a
// redirect or the loss of a connection, to its receiver.
//
// Thread safety: made by any thread; afterwards it belongs to the holder of the loop's turn, except
// where marked.
//
// Memory: at most streamBuffer bytes are with the receiver, and as many, still compressed, are held
// here. accepting() and Connection::credit() tell connections of both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/internal/mutex.h"
#include "kube/http/http.h"
#include "kube/http/internal/content_decoder.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/transport.h"
#include "kube/http/url.h"

namespace kube::detail {

class CallerIo;
class Connection;
class HttpEngine;

// The progress of a request when its connection failed.
enum class Failure : unsigned char {
  NotProcessed,  // not sent, or not processed by the word of the server
  Lost,          // sent on a connection that had served before and may have been stale
  Final,
  Permanent,  // final, and another try would fail in the same way
};

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  /// Throws ConfigError for a request that cannot be sent.
  Exchange(HttpRequest request, std::shared_ptr<HttpReceiver> receiver);

  const HttpRequest& request() const { return request_; }
  const Url& url() const { return url_; }
  /// "GET https://host/path", for messages.
  std::string describe() const;

  /// True if it asks for another protocol, and so needs a connection of its own.
  bool upgrades() const { return !request_.upgrade.empty(); }

  // --- Written data after an upgrade. For any thread.
  enum class Written : unsigned char {
    First,   // sendWritten() has to be called
    Behind,  // sendWritten() was or will be called
    Ended,   // the exchange has ended
  };
  Written write(const std::function<void(std::string& out)>& append);
  std::size_t queued() const;

  // --- For the engine.
  void sendWritten();
  void begin(HttpEngine& engine);
  /// Ties the exchange to a connection, which keeps it alive until it has ended.
  void attach(Connection& connection);
  void consumed(std::size_t bytes);
  void cancel();
  /// Fails the exchange because no connection could be made; `permanent` is TransportError's.
  void failDial(const std::string& cause, bool permanent = false);
  void failShutDown();
  /// Lends its connection to the caller that waits for it, while the exchange is on that
  /// connection. Returns whether it was lent.
  bool lendTo(CallerIo& caller);
  bool lentTo(const CallerIo& caller) const { return caller_ == &caller; }
  /// Gives the lent connection back early.
  void takeBack();
  Connection& connection() { return *connection_; }

  // --- For the connection. Each of these may end the exchange and detach it.
  void markSent() { sent_ = true; }
  void onHead(HttpResponse head);
  void onData(std::string_view wire);
  void onEnd();
  void onFailure(const std::string& cause, Failure failure);
  /// For upgraded connections: moves the written data to `out`; tells the receiver that nothing
  /// arrived for a while.
  void takeWritten(std::string& out);
  void onQuiet();
  /// The number of bytes of the body received, before decompression. For any thread.
  std::uint64_t wireBytes() const { return wireBytes_.load(std::memory_order_relaxed); }
  /// True if it takes more data now. HTTP/1.1 stops reading while it does not.
  bool accepting() const { return held_.empty() && outstanding_ < limit_; }

 private:
  friend class HttpEngine;

  void detach();
  const char* stage() const;
  bool idempotent() const;
  bool followRedirect(const HttpResponse& head);
  void routeLater();
  void timedOut();
  void deliver(std::string_view wire);
  void pump();
  bool drained() const { return held_.empty() && (!decoder_ || decoderDry_); }
  void fail(std::exception_ptr error);
  void failTransport(std::string_view cause, bool permanent = false);
  void finish(std::exception_ptr error);

  HttpRequest request_;
  Url url_;
  std::shared_ptr<HttpReceiver> receiver_;

  HttpEngine* engine_ = nullptr;
  std::list<std::shared_ptr<Exchange>>::iterator place_;  // its place in the engine's list
  std::optional<LoopTimer> timer_;
  Connection* connection_ = nullptr;
  CallerIo* caller_ = nullptr;  // the borrower of the connection
  std::size_t limit_ = 0;
  int redirects_ = 0;
  int attempts_ = 1;
  bool sent_ = false;      // the request may have reached the server, in this attempt
  bool lostOnce_ = false;  // ... or in an earlier one
  bool headSeen_ = false;
  bool begun_ = false;  // its caller has borrowed and returned the connection once
  bool ended_ = false;  // everything was received; some may be held back
  bool done_ = false;
  bool canceled_ = false;

  std::string coding_;                       // Content-Encoding, if it is to be decoded
  std::unique_ptr<ContentDecoder> decoder_;  // made at the first byte
  bool decoderDry_ = false;                  // needs more input
  std::string held_;                         // undecoded wire bytes
  std::size_t outstanding_ = 0;              // body bytes that the receiver holds
  std::atomic<std::uint64_t> wireBytes_{0};
  std::size_t owed_ = 0;  // wire bytes passed on and not credited to the connection yet

  mutable Mutex writtenMutex_;
  // After an upgrade, data that the connection has not taken yet.
  std::string written_ KUBE_GUARDED_BY(writtenMutex_);
  bool writtenEnded_ KUBE_GUARDED_BY(writtenMutex_) = false;  // the connection takes no more
};

}  // namespace kube::detail
