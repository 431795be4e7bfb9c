// The connections of a server: all of them, the overdue ones, and the ones to close when there are
// too many.
//
// A new connection that needs room replaces connections of the peer with the most. Their order is:
// those that have had some time and sent nothing, or no whole request; those between two requests;
// those that do not read their answer; new ones; those that wait for a handler; and among equals
// those in that state for the longest. Streams and upgraded connections are kept. A connection that
// is new or made progress just now is kept for a moment, too. If that holds for all, the new one
// waits a little; otherwise no client would ever get an answer.
//
// Thread safety: a ConnectionTable may be used by any thread. A Standing is written on its
// connection's strand, and read by any thread.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kube/base/internal/mutex.h"

struct sockaddr_storage;

namespace kube::detail {

using ServerTime = std::chrono::steady_clock::time_point;

/// The identity of a peer: an IPv4 address, or the first half of an IPv6 address, which belongs to
/// one host or site.
using PeerKey = std::uint64_t;
PeerKey peerKey(const sockaddr_storage& address) noexcept;

/// The activity of a connection. Silent: nothing was received yet. Fresh: no whole request was
/// received yet.
enum class Stage : std::uint8_t { Leaving, Silent, Fresh, Idle, Sending, Working, Streaming };

class Standing {
 public:
  /// `deadline`: the time of the next check.
  void set(Stage stage, ServerTime since, ServerTime deadline) noexcept {
    stage_.store(stage, std::memory_order_relaxed);
    since_.store(since, std::memory_order_relaxed);
    deadline_.store(deadline, std::memory_order_relaxed);
  }
  Stage stage() const noexcept { return stage_.load(std::memory_order_relaxed); }
  ServerTime since() const noexcept { return since_.load(std::memory_order_relaxed); }
  ServerTime deadline() const noexcept { return deadline_.load(std::memory_order_relaxed); }

  /// The number of bytes of answers that the peer has not read.
  void setUnsent(std::size_t bytes) noexcept { unsent_.store(bytes, std::memory_order_relaxed); }
  std::size_t unsent() const noexcept { return unsent_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Stage> stage_{Stage::Silent};
  std::atomic<ServerTime> since_{ServerTime::min()};
  std::atomic<ServerTime> deadline_{ServerTime::max()};
  std::atomic<std::size_t> unsent_{0};
};

/// A connection in any of its stages, as the server sees it.
class Closable {
 public:
  explicit Closable(PeerKey peer) : peer_(peer) {}
  virtual ~Closable() = default;
  virtual boost::asio::any_io_executor executor() const = 0;
  PeerKey peerKey() const noexcept { return peer_; }
  Standing& standing() noexcept { return standing_; }

  /// Marks it for closing: nothing more is sent.
  void condemn() noexcept { condemned_.store(true, std::memory_order_release); }
  bool condemned() const noexcept { return condemned_.load(std::memory_order_acquire); }

  // --- On the strand.
  virtual void drain() {}
  virtual void resume() {}            // after setSilent(false)
  virtual void expire() { close(); }  // its deadline may have passed
  virtual void shutDown() = 0;        // announces the end, closes
  virtual void close() = 0;           // closes

 private:
  const PeerKey peer_;
  Standing standing_;
  std::atomic<bool> condemned_{false};
};

class ConnectionTable {
 public:
  /// `moment`: the time for which a connection is kept after progress.
  explicit ConnectionTable(std::chrono::milliseconds moment) : moment_(moment) {}

  using Connections = std::vector<std::shared_ptr<Closable>>;

  /// Returns false after refuseNew().
  bool add(const std::shared_ptr<Closable>& connection);
  void remove(Closable* connection);
  /// Replaces a connection by the same connection in its next stage.
  void replace(Closable* old, const std::shared_ptr<Closable>& fresh);
  void refuseNew();
  /// Returns whether the table was empty in time.
  bool waitUntilEmpty(std::chrono::milliseconds patience);

  std::size_t size() const;
  Connections all() const;
  Connections overdue(ServerTime now) const;

  /// The result of makeRoom(): the connections that have to be closed for a new one. They are not
  /// counted any more.
  struct Room {
    enum class For : std::uint8_t { One, NoneNow, None } what = For::One;
    Connections leaving = {};
  };
  /// Makes room for one more connection, of `most`. `urgent`: the new one cannot wait even for a
  /// moment.
  Room makeRoom(std::size_t most, ServerTime now, bool urgent = false);
  bool hasRoom(std::size_t most) const;
  /// The connection to close first, for a process without free descriptors.
  Connections leastNeeded(ServerTime now);
  /// The connection with the most unread data, except the given one.
  Connections mostUnsentBut(const Closable* connection);

 private:
  struct Entry {
    std::weak_ptr<Closable> connection;
    bool leaving = false;
  };

  struct Candidate;
  std::vector<Candidate> candidates(ServerTime now) KUBE_REQUIRES(entriesMutex_);
  Connections choose(std::vector<Candidate> candidates, std::size_t count)
      KUBE_REQUIRES(entriesMutex_);
  void leave(Entry& entry, Connections& chosen) KUBE_REQUIRES(entriesMutex_);

  const std::chrono::milliseconds moment_;
  mutable Mutex entriesMutex_;
  std::condition_variable changed_;
  std::unordered_map<Closable*, Entry> entries_ KUBE_GUARDED_BY(entriesMutex_);
  std::unordered_map<PeerKey, std::size_t> peers_ KUBE_GUARDED_BY(entriesMutex_);
  std::size_t leaving_ KUBE_GUARDED_BY(entriesMutex_) = 0;
  bool refusing_ KUBE_GUARDED_BY(entriesMutex_) = false;
};

}  // namespace kube::detail
