#include "kube/http/internal/connection.h"

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <utility>

#include "kube/http/internal/caller_io.h"
#include "kube/http/internal/host_pool.h"
#include "kube/http/internal/http_engine.h"

namespace kube::detail {
namespace {

// The number of reads in a row before the data is processed, while it is in the processor's caches,
// and other connections get their turn.
constexpr int kMaxReads = 8;
// The largest capacity that the output buffer keeps after a burst of requests.
constexpr std::size_t kKeptOutput = 64 << 10;

}  // namespace

bool isConnectionHeader(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {
      "host",       "content-length",    "connection",
      "keep-alive", "proxy-connection",  "upgrade",
      "te",         "transfer-encoding", "proxy-authorization"};
  for (const std::string_view own : kNames) {
    if (equalIgnoringCase(name, own)) return true;
  }
  return false;
}

Connection::Connection(HttpEngine& engine, HostPool& pool, std::unique_ptr<Channel> channel)
    : engine_(engine),
      pool_(pool),
      channel_(std::move(channel)),
      idleTimer_(engine.loop()),
      loanTimer_(engine.loop()) {
  engine_.counters().connectionsMade.fetch_add(1, std::memory_order_relaxed);
  engine_.counters().connectionsOpen.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() {
  engine_.counters().connectionsOpen.fetch_sub(1, std::memory_order_relaxed);
}

void Connection::open() {
  watch_.emplace(engine_.loop(), channel_->fd(), EPOLLIN, *this);
  streamEnded();
  scheduleRead();  // the handshake may have read bytes of HTTP from the socket
}

void Connection::retire() {
  retired_ = true;
  closeIfIdle();
}

void Connection::closeIfIdle() {
  if (retired_ && idle() && !closed()) shut("closed");
}

void Connection::shut(const std::string& cause) {
  if (closed()) return;
  const auto self = shared_from_this();
  retired_ = true;
  watch_.reset();
  idleTimer_.cancel();
  loanTimer_.cancel();
  channel_.reset();
  lost(cause);
  pool_.onClosed(*this);
}

void Connection::streamEnded() {
  loan_.exchangeEnded(streams());
  if (closed()) return;
  if (retired_) {
    // Deferred: the caller may be in the middle of parsing.
    if (idle()) engine_.loop().defer([self = shared_from_this()] { self->closeIfIdle(); });
    return;
  }
  if (idle()) {
    idleSince_ = engine_.loop().now();
    if (!idleTimer_.isSet()) armIdleTimer();
  }
  pool_.onRoom();
}

// One timer for many idle times: when it fires, it checks how long the current one lasts.
void Connection::armIdleTimer() {
  const auto timeout = engine_.options().idleTimeout;
  idleTimer_.set(idleSince_ + timeout, [this, timeout] {
    if (!idle()) return;
    if (engine_.loop().now() - idleSince_ >= timeout) return retire();
    armIdleTimer();
  });
}

void Connection::scheduleFlush() {
  if (std::exchange(flushScheduled_, true)) return;
  engine_.loop().defer([self = shared_from_this()] {
    self->flushScheduled_ = false;
    self->flush();
  });
}

void Connection::scheduleRead() {
  if (std::exchange(readScheduled_, true)) return;
  engine_.loop().deferToNextTurn([self = shared_from_this()] {
    self->readScheduled_ = false;
    // A borrower reads the socket itself, and does not notice data that another thread reads.
    if (!self->loan_.lent()) self->readSome(false);
  });
}

void Connection::onEvents(std::uint32_t events) { handle(events, false); }

void Connection::handle(std::uint32_t events, bool borrowed) {
  const auto self = shared_from_this();
  if ((events & EPOLLOUT) != 0) {
    writeBlocked_ = false;
    flush();
  }
  if ((events & ~std::uint32_t{EPOLLOUT}) != 0 || readNeedsWrite_) readSome(borrowed);
  // TLS may have had to read before it could continue to write.
  if (written_ < output_.size() && !writeBlocked_) flush();
}

bool Connection::lend() {
  if (closed() || loan_.lent() || !wantsRead()) return false;
  loan_.lend();
  hasMore_ = hasMore_ || readScheduled_;  // TLS may have data already, which no poll reports
  updateEvents();
  return true;
}

void Connection::takeBack(Loan::Return how) {
  const auto now = engine_.loop().now();
  loan_.giveBack(how, streams(), now);
  if (closed()) return;
  if (!loan_.withLoop() && !loanTimer_.isSet()) checkLoanAt(now + Loan::kReserveTime);
  updateEvents();
}

// One timer for many reservations, as for idle times.
void Connection::checkLoanAt(EventLoop::TimePoint time) {
  loanTimer_.set(time, [this] {
    if (const auto next = loan_.check(engine_.loop().now())) return checkLoanAt(*next);
    updateEvents();
  });
}

void Connection::onReadable() {
  if (!closed()) handle(EPOLLIN, true);
}

void Connection::readSome(bool borrowed) {
  std::string& buffer = engine_.readBuffer();
  readNeedsWrite_ = false;
  hasMore_ = false;
  for (int reads = 0; !closed() && wantsRead(); ++reads) {
    hasMore_ = reads == kMaxReads;
    if (hasMore_) break;
    const Channel::Result got = channel_->read(buffer.data(), buffer.size());
    if (got.status == Channel::Status::WantRead) break;
    if (got.status == Channel::Status::WantWrite) {
      readNeedsWrite_ = true;
      break;
    }
    if (got.status == Channel::Status::Failed) return shut("connection lost: " + channel_->error());
    if (got.status == Channel::Status::End) return receiveEnd();
    engine_.counters().bytesReceived.fetch_add(got.bytes, std::memory_order_relaxed);
    receive({buffer.data(), got.bytes});
    // Another read would probably find nothing; the loop reports new data.
    if (!closed() && got.bytes < buffer.size() && !channel_->pending()) break;
  }
  // A borrower reads on by itself.
  if (hasMore_ && !borrowed) scheduleRead();
  updateEvents();
}

void Connection::flush() {
  if (closed()) return;
  for (;;) {
    if (written_ == output_.size()) {
      output_.clear();
      if (output_.capacity() > kKeptOutput) output_.shrink_to_fit();
      written_ = 0;
      produce();
      if (closed()) return;
      if (output_.empty()) break;
    }
    const Channel::Result put = channel_->write(std::string_view(output_).substr(written_));
    if (put.status == Channel::Status::Failed) {
      // The server may have answered before it closed the connection, such as 413 in the middle of
      // an upload.
      const std::string cause = "connection lost: " + channel_->error();
      retired_ = true;
      readSome(false);
      return shut(cause);
    }
    if (put.status != Channel::Status::Ok) {
      writeBlocked_ = put.status == Channel::Status::WantWrite;
      break;
    }
    written_ += put.bytes;
    engine_.counters().bytesSent.fetch_add(put.bytes, std::memory_order_relaxed);
  }
  updateEvents();
}

void Connection::updateEvents() {
  if (closed()) return;
  const bool out = writeBlocked_ || readNeedsWrite_;
  // Exchanges that were added meanwhile have no borrower, so the loop has to poll for them.
  loan_.settle(streams());
  const bool readByLoop = loan_.withLoop();
  if (hasMore_ && readByLoop) scheduleRead();
  const std::uint32_t in = wantsRead() ? (readByLoop ? EPOLLIN : EPOLLRDHUP) : 0u;
  const std::uint32_t events = in | (out ? EPOLLOUT : 0u);
  if (events == 0 && !loan_.lent()) {
    watch_.reset();  // a hang-up would be reported continuously, wanted or not
  } else if (watch_) {
    watch_->setEvents(events);
  } else {
    watch_.emplace(engine_.loop(), channel_->fd(), events, *this);
  }
}

}  // namespace kube::detail
