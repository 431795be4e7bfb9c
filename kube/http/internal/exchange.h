// One call on its way through the engine: from its request, over one connection or (after a
// redirect, or when a connection failed it) several, to its receiver.
//
// Thread safety: made by any thread, then of whoever has the loop's turn.
//
// Memory: at most streamBuffer bytes are with the receiver, and as many, still compressed, are held
// back here. Connections are told of both by accepting() and Connection::credit().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kube/http/http.h"
#include "kube/http/internal/content_decoder.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/transport.h"
#include "kube/http/url.h"

namespace kube::detail {

class CallerIo;
class Connection;
class HttpEngine;

// How far a request had got when its connection failed it.
enum class Failure : unsigned char {
  NotProcessed,  // not sent, or the server says that it did nothing about it
  Lost,          // sent, on a connection that had served before: it may have been stale
  Final,
  Permanent,  // and so would it be another time
};

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  /// Throws ConfigError for a request that cannot be sent.
  Exchange(HttpRequest request, std::shared_ptr<HttpReceiver> receiver);

  const HttpRequest& request() const { return request_; }
  const Url& url() const { return url_; }
  /// "GET https://host/path", for messages.
  std::string describe() const;

  /// It asks for another protocol, and so for a connection of its own.
  bool upgrades() const { return !request_.upgrade.empty(); }

  // --- What is written after an upgrade. For any thread.
  enum class Written : unsigned char {
    First,   // sendWritten() has to be called
    Behind,  // ... has been, or will be called
    Ended,   // nobody sends it any more
  };
  Written write(const std::function<void(std::string& out)>& append);
  std::size_t queued() const;

  // --- For the engine.
  void sendWritten();
  void begin(HttpEngine& engine);
  /// On its way over a connection, which keeps it alive until it has ended.
  void attach(Connection& connection);
  void consumed(std::size_t bytes);
  void cancel();
  /// No connection could be made; `permanent` as TransportError has it.
  void failDial(const std::string& cause, bool permanent = false);
  void failShutDown();
  /// Lends the connection that it is on to the caller who waits for it, until it is there no more.
  bool lendTo(CallerIo& caller);
  bool lentTo(const CallerIo& caller) const { return caller_ == &caller; }
  /// Ends that before.
  void takeBack();
  Connection& connection() { return *connection_; }
  bool gathers() const { return request_.gathers; }

  // --- For the connection. Any of these may end the exchange, which then is attached no more.
  void markSent() { sent_ = true; }
  void onHead(HttpResponse head);
  void onData(std::string_view wire);
  void onEnd();
  void onFailure(const std::string& cause, Failure failure);
  /// Of a connection that was upgraded: all that was written and not taken yet; nothing came for a
  /// while.
  void takeWritten(std::string& out);
  void onQuiet();
  /// How much of the body has come, before it is decompressed. For any thread.
  std::uint64_t wireBytes() const { return wireBytes_.load(std::memory_order_relaxed); }
  /// Takes more data now: HTTP/1.1 stops reading while it does not.
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
  std::list<std::shared_ptr<Exchange>>::iterator place_;  // among the engine's exchanges
  std::optional<LoopTimer> timer_;
  Connection* connection_ = nullptr;
  CallerIo* caller_ = nullptr;  // to whom the connection is lent
  std::size_t limit_ = 0;
  int redirects_ = 0;
  int attempts_ = 1;
  bool sent_ = false;      // it may have reached the server in this attempt
  bool lostOnce_ = false;  // ... or in a former one
  bool headSeen_ = false;
  bool begun_ = false;  // its caller has had the connection, and given it back
  bool urgent_ = true;  // not to be gathered, now
  bool ended_ = false;  // all has come; some may be held back
  bool done_ = false;

  std::string coding_;                       // Content-Encoding, if it is to be undone
  std::unique_ptr<ContentDecoder> decoder_;  // from the first byte on
  bool decoderDry_ = false;                  // it has nothing left to give without input
  std::string held_;                         // wire bytes not looked at yet
  std::size_t outstanding_ = 0;              // body bytes with the receiver
  std::atomic<std::uint64_t> wireBytes_{0};
  std::size_t owed_ = 0;  // wire bytes handed on, not credited to the connection yet

  mutable std::mutex writtenMutex_;
  std::string written_;        // after an upgrade, not taken by the connection yet
  bool writtenEnded_ = false;  // nobody will take it
};

}  // namespace kube::detail
