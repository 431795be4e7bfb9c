// A connection to a server and the exchanges on it; HTTP/1.1 and HTTP/2 are its two kinds.
//
// This class moves bytes: it reads from the socket, writes output() once per turn of the loop, and
// closes connections that are idle for too long. Its two kinds give the bytes meaning.
//
// Thread safety: belongs to the holder of the loop's turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/http/internal/channel.h"
#include "kube/http/internal/event_loop.h"
#include "kube/http/internal/exchange.h"
#include "kube/http/internal/loan.h"

namespace kube {
struct Proxy;
}

namespace kube::detail {

class HttpEngine;
class HostPool;

class Connection : public EventHandler, public std::enable_shared_from_this<Connection> {
 public:
  virtual ~Connection();

  virtual int httpVersion() const = 0;
  /// The number of exchanges that it takes now, in addition to those it has.
  virtual std::size_t freeStreams() const = 0;
  /// The number of exchanges that it takes in total.
  virtual std::size_t allowedStreams() const { return 1; }
  /// The number of exchanges that it has.
  virtual std::size_t streams() const = 0;
  bool idle() const { return streams() == 0; }
  /// Notes that it was given an exchange.
  void setUsed() { used_ = true; }
  bool used() const { return used_; }
  virtual void begin(std::shared_ptr<Exchange> exchange) = 0;
  /// Detaches an exchange. Data that still arrives for it is dropped.
  virtual void abandon(Exchange& exchange) = 0;
  /// Notes that the exchange has processed so many bytes from the wire.
  virtual void credit(Exchange& exchange, std::size_t bytes) = 0;

  /// Begins to watch the socket.
  virtual void open();
  /// Takes no more exchanges, and closes when the current ones have ended.
  void retire();
  bool retired() const { return retired_; }
  /// Closes the connection and fails its exchanges.
  void shut(const std::string& cause);

  /// Lends the socket: the caller polls and reads it, not the loop. Returns false if it is lent
  /// already, or nothing is to be read now.
  bool lend();
  /// Ends the loan.
  void takeBack(Loan::Return how);
  int fd() const { return channel_->fd(); }
  /// Reads, for a borrower.
  void onReadable();
  /// True if more can be read at once, even if the socket is not readable: TLS may have it already.
  bool hasMore() const { return hasMore_; }

  /// Schedules a write, because an exchange has data to send.
  void wantsToSend() { scheduleFlush(); }

 protected:
  Connection(HttpEngine& engine, HostPool& pool, std::unique_ptr<Channel> channel);

  virtual void receive(std::string_view bytes) = 0;
  /// The peer has closed its side.
  virtual void receiveEnd() = 0;
  virtual bool wantsRead() const { return true; }
  /// Appends the data to send to output().
  virtual void produce() {}
  /// Tells all exchanges that the connection is lost.
  virtual void lost(const std::string& cause) = 0;

  bool closed() const { return channel_ == nullptr; }
  std::string& output() { return output_; }
  void scheduleFlush();
  void scheduleRead();
  /// Tells the pool that an exchange has ended, and starts the idle timer if it was the last.
  void streamEnded();

  HttpEngine& engine_;
  HostPool& pool_;

 private:
  void onEvents(std::uint32_t events) final;
  void handle(std::uint32_t events, bool borrowed);
  void readSome(bool borrowed);
  void flush();
  void updateEvents();
  void closeIfIdle();
  void armIdleTimer();
  void checkLoanAt(EventLoop::TimePoint time);

  std::unique_ptr<Channel> channel_;
  std::optional<FdWatch> watch_;
  LoopTimer idleTimer_;
  EventLoop::TimePoint idleSince_{};
  Loan loan_;
  LoopTimer loanTimer_;  // set while a reservation may have to be ended
  std::string output_;
  std::size_t written_ = 0;  // of output_
  bool writeBlocked_ = false;
  bool readNeedsWrite_ = false;
  bool flushScheduled_ = false;
  bool readScheduled_ = false;
  bool hasMore_ = false;
  bool retired_ = false;
  bool used_ = false;
};

/// `proxied` is the HTTP proxy that forwards plain requests, or null.
std::shared_ptr<Connection> http1Connection(HttpEngine& engine, HostPool& pool,
                                            std::unique_ptr<Channel> channel, const Proxy* proxied);
std::shared_ptr<Connection> http2Connection(HttpEngine& engine, HostPool& pool,
                                            std::unique_ptr<Channel> channel,
                                            std::size_t assumedStreams);

/// Returns whether the transport itself writes this request header, or the header controls the
/// connection.
bool isConnectionHeader(std::string_view name);

}  // namespace kube::detail
