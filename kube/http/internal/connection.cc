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
// The time that a returned connection is reserved for its borrower: each call that starts sooner
// saves two system calls. A hang-up of the server is noticed meanwhile all the same.
constexpr std::chrono::milliseconds kReserveTime{100};

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
      reserveTimer_(engine.loop()),
      restTimer_(engine.loop()) {
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
  reserveTimer_.cancel();
  restTimer_.cancel();
  channel_.reset();
  lost(cause);
  pool_.onClosed(*this);
}

void Connection::streamEnded() {
  reservedForStream_ = false;
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
    if (!self->lent_) self->readSome(false);
  });
}

void Connection::onEvents(std::uint32_t events) {
  const auto self = shared_from_this();
  const std::uint64_t before = received_;
  handle(events, false);
  if (!closed() && received_ != before) restIfBatching(received_ - before);
}

// While events of watches arrive in quick succession, it is cheaper to leave the socket alone for a
// while and to read several at once. As HttpEngine::drive() does for a borrower.
void Connection::restIfBatching(std::size_t bytes) {
  const auto gatherTime = engine_.options().gatherTime;
  if (gatherTime.count() == 0 || urgent_ != 0) return;
  const auto now = engine_.loop().now();
  const bool quick = now - std::exchange(lastRead_, now) < 2 * gatherTime;
  noteRead(bytes, quick);
  if (!batching() || hasMore_ || restTimer_.isSet()) return;
  restTimer_.set(now + gatherTime, [this] { endRest(); });
  updateEvents();
}

void Connection::endRest() {
  restTimer_.cancel();
  updateEvents();
}

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
  if (closed() || lent_ || !wantsRead()) return false;
  lent_ = true;
  hasMore_ = hasMore_ || readScheduled_;  // TLS may have data already, which no poll reports
  updateEvents();
  return true;
}

void Connection::takeBack(Borrower borrower) {
  lent_ = false;
  sleeper_ = nullptr;
  const auto now = engine_.loop().now();
  const bool often = now - std::exchange(returned_, now) < kReserveTime;
  const bool soon = borrower == Borrower::Begins || (borrower == Borrower::MayComeBack && often);
  reservedForStream_ = soon && streams() == 1;
  reserved_ = !closed() && (idle() || reservedForStream_);
  if (reserved_ && !reserveTimer_.isSet()) armReserveTimer();
  updateEvents();
}

// One timer for many reservations, as for idle times.
void Connection::armReserveTimer() {
  reserveTimer_.set(returned_ + kReserveTime, [this] {
    const bool lately = engine_.loop().now() - returned_ < kReserveTime;
    if (lately && (lent_ || reserved_)) return armReserveTimer();
    if (lent_) return;
    reserved_ = false;
    updateEvents();
  });
}

std::size_t Connection::onReadable() {
  const std::uint64_t before = received_;
  if (!closed()) handle(EPOLLIN, true);
  return received_ - before;
}

void Connection::countUrgent(int by) {
  urgent_ += by;
  if (by > 0 && sleeper_ != nullptr) sleeper_->wake();
  if (by > 0 && restTimer_.isSet()) endRest();
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
    received_ += got.bytes;
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
  if (!lent_ && !idle() && !(reservedForStream_ && streams() == 1)) reserved_ = false;
  const bool readByLoop = !lent_ && !reserved_;
  if (hasMore_ && readByLoop) scheduleRead();
  const bool resting = restTimer_.isSet();
  const std::uint32_t in = wantsRead() ? (readByLoop && !resting ? EPOLLIN : EPOLLRDHUP) : 0u;
  const std::uint32_t events = in | (out ? EPOLLOUT : 0u);
  if (events == 0 && !lent_) {
    watch_.reset();  // a hang-up would be reported continuously, wanted or not
  } else if (watch_) {
    watch_->setEvents(events);
  } else {
    watch_.emplace(engine_.loop(), channel_->fd(), events, *this);
  }
}

}  // namespace kube::detail
