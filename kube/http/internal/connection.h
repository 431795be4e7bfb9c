// A connection to a server and the exchanges on it; HTTP/1.1 and HTTP/2 are its two kinds.
//
// This class moves bytes: it reads what comes, writes what output() holds, once per turn of the
// loop, and closes when idle for too long. Its kinds give the bytes meaning.
//
// Thread safety: belongs to whoever has the loop's turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/http/internal/channel.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/exchange.h"

namespace kube {
struct Proxy;
}

namespace kube::detail {

class CallerIo;
class HttpEngine;
class HostPool;

class Connection : public EventHandler, public std::enable_shared_from_this<Connection> {
 public:
  virtual ~Connection();

  virtual int httpVersion() const = 0;
  /// How many exchanges it takes now, besides those it has.
  virtual std::size_t freeStreams() const = 0;
  /// How many it takes altogether.
  virtual std::size_t allowedStreams() const { return 1; }
  /// How many exchanges it has.
  virtual std::size_t streams() const = 0;
  bool idle() const { return streams() == 0; }
  /// It has taken an exchange.
  void setUsed() { used_ = true; }
  bool used() const { return used_; }
  virtual void begin(std::shared_ptr<Exchange> exchange) = 0;
  /// The exchange has ended here, whatever may still come for it.
  virtual void abandon(Exchange& exchange) = 0;
  /// The exchange is done with so many bytes from the wire.
  virtual void credit(Exchange& exchange, std::size_t bytes) = 0;

  /// Begins to watch the socket.
  virtual void open();
  /// No more exchanges; closed when those it has are done.
  void retire();
  bool retired() const { return retired_; }
  /// Fails all exchanges.
  void shut(const std::string& cause);

  /// The loop leaves it to the caller to look whether there is something to read. Says whether it
  /// does: false if it is lent already, or nothing is to be read now.
  bool lend();
  enum class Borrower { Done, Begins, MayComeBack };
  /// The loop looks itself again; but only in a while, if the connection is idle now, or has just
  /// this one exchange whose borrower begins to read it, or often comes back: most likely it is
  /// soon lent again.
  void takeBack(Borrower borrower);
  int fd() const { return channel_->fd(); }
  /// Returns how many bytes were read.
  std::size_t onReadable();
  /// Whether more can be read at once. The socket need not know: TLS may have it already.
  bool hasMore() const { return hasMore_; }

  /// Exchanges that cannot wait for others have come, or gone.
  void countUrgent(int by);
  /// Whether a borrower had better rest than wait for what comes next.
  bool gathers() const { return soon_ >= kThick && urgent_ == 0; }
  /// What has come has come soon after what was before; or not.
  void noteSoon(bool soon) { soon_ = soon ? std::min(soon_ + 1, kThick) : 0; }
  /// Who rests, and is to be woken by what is urgent; null: nobody.
  void setResting(CallerIo* caller) { rester_ = caller; }
  /// There is something to be sent.
  void wantsToSend() { scheduleFlush(); }

 protected:
  Connection(HttpEngine& engine, HostPool& pool, std::unique_ptr<Channel> channel);

  virtual void receive(std::string_view bytes) = 0;
  /// The peer has closed its side.
  virtual void receiveEnd() = 0;
  virtual bool wantsRead() const { return true; }
  /// Adds to output() what is to be sent.
  virtual void produce() {}
  /// The connection is no more: tells all exchanges.
  virtual void lost(const std::string& cause) = 0;

  bool closed() const { return channel_ == nullptr; }
  std::string& output() { return output_; }
  void scheduleFlush();
  void scheduleRead();
  /// An exchange is over: tells the pool, and looks after idleness.
  void streamEnded();

  HttpEngine& engine_;
  HostPool& pool_;

 private:
  // A few events at a time, as an update and what it leads to, are no stream of them.
  static constexpr int kThick = 8;

  void onEvents(std::uint32_t events) final;
  void handle(std::uint32_t events, bool borrowed);
  void readSome(bool borrowed);
  void flush();
  void updateEvents();
  void closeIfIdle();
  void armIdleTimer();
  void armRestTimer();

  std::unique_ptr<Channel> channel_;
  std::optional<FdWatch> watch_;
  LoopTimer idleTimer_;
  EventLoop::TimePoint idleSince_{};
  LoopTimer restTimer_;
  EventLoop::TimePoint returned_{};  // by its last borrower
  std::string output_;
  std::size_t written_ = 0;  // of output_
  std::uint64_t received_ = 0;
  bool writeBlocked_ = false;
  bool readNeedsWrite_ = false;
  bool flushScheduled_ = false;
  bool readScheduled_ = false;
  bool hasMore_ = false;
  bool retired_ = false;
  bool used_ = false;
  bool lent_ = false;
  bool resting_ = false;   // left alone by the loop; restTimer_ is set then
  bool awaiting_ = false;  // resting for the one exchange that it has
  int soon_ = 0;           // in a row
  int urgent_ = 0;
  CallerIo* rester_ = nullptr;
};

/// `proxied` is the proxy that plain requests are sent to as they are, or null.
std::shared_ptr<Connection> http1Connection(HttpEngine& engine, HostPool& pool,
                                            std::unique_ptr<Channel> channel, const Proxy* proxied);
std::shared_ptr<Connection> http2Connection(HttpEngine& engine, HostPool& pool,
                                            std::unique_ptr<Channel> channel,
                                            std::size_t assumedStreams);

/// Request headers that the transport writes itself or that govern the connection.
bool isConnectionHeader(std::string_view name);

}  // namespace kube::detail
