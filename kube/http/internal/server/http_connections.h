// The connections of a server: which there are, which have taken too long, and which go when there
// are too many.
//
// Where a new one needs room, those of the peer with the most connections go first; of these, those
// that have had some time and have said nothing, or no whole request; then those between two
// requests, then those that do not take their answer, then those that have only come, then those
// that wait for a handler; of these, those that have been so for the longest. What streams, or has
// changed its protocol, stays. What has come, or got on, this moment stays for that
// moment, too: where all have, the new one has to wait a little, or nobody would get an answer.
//
// Thread safety: a ConnectionTable is for any thread. A Standing is written on its connection's
// strand, and read by any thread.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

struct sockaddr_storage;

namespace kube::detail {

using ServerTime = std::chrono::steady_clock::time_point;

/// What a peer is told apart by: an IPv4 address, or the first half of an IPv6 address, which is a
/// host's or a site's.
using PeerKey = std::uint64_t;
PeerKey peerKey(const sockaddr_storage& address) noexcept;

/// What a connection is doing. Silent: it has said nothing yet. Fresh: not a whole request.
enum class Stage : std::uint8_t { Leaving, Silent, Fresh, Idle, Sending, Working, Streaming };

class Standing {
 public:
  /// `deadline`: when it has to be looked at.
  void set(Stage stage, ServerTime since, ServerTime deadline) noexcept {
    stage_.store(stage, std::memory_order_relaxed);
    since_.store(since, std::memory_order_relaxed);
    deadline_.store(deadline, std::memory_order_relaxed);
  }
  Stage stage() const noexcept { return stage_.load(std::memory_order_relaxed); }
  ServerTime since() const noexcept { return since_.load(std::memory_order_relaxed); }
  ServerTime deadline() const noexcept { return deadline_.load(std::memory_order_relaxed); }

  /// Bytes of answers that the peer has not taken.
  void setUnsent(std::size_t bytes) noexcept { unsent_.store(bytes, std::memory_order_relaxed); }
  std::size_t unsent() const noexcept { return unsent_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Stage> stage_{Stage::Silent};
  std::atomic<ServerTime> since_{ServerTime::min()};
  std::atomic<ServerTime> deadline_{ServerTime::max()};
  std::atomic<std::size_t> unsent_{0};
};

/// A connection in any of its stages, as far as the server has to know it.
class Closable {
 public:
  explicit Closable(PeerKey peer) : peer_(peer) {}
  virtual ~Closable() = default;
  virtual boost::asio::any_io_executor executor() const = 0;
  PeerKey peerKey() const noexcept { return peer_; }
  Standing& standing() noexcept { return standing_; }

  /// It is about to be closed: nothing more is to be sent.
  void condemn() noexcept { condemned_.store(true, std::memory_order_release); }
  bool condemned() const noexcept { return condemned_.load(std::memory_order_acquire); }

  // --- On the strand.
  virtual void drain() {}
  virtual void resume() {}            // after a silence
  virtual void expire() { close(); }  // its deadline may have come
  virtual void shutDown() = 0;        // says goodbye, closes
  virtual void close() = 0;           // closes

 private:
  const PeerKey peer_;
  Standing standing_;
  std::atomic<bool> condemned_{false};
};

class ConnectionTable {
 public:
  /// `moment`: how long that is.
  explicit ConnectionTable(std::chrono::milliseconds moment) : moment_(moment) {}

  using Connections = std::vector<std::shared_ptr<Closable>>;

  /// False after refuseNew().
  bool add(const std::shared_ptr<Closable>& connection);
  void remove(Closable* connection);
  /// The same connection in its next stage; what closes the old one closes this.
  void replace(Closable* old, const std::shared_ptr<Closable>& fresh);
  void refuseNew();
  /// Says whether that happened in time.
  bool waitUntilEmpty(std::chrono::milliseconds patience);

  std::size_t size() const;
  Connections all() const;
  Connections overdue(ServerTime now) const;

  /// For one more than there are, of `most`: what has to be closed for it, which counts no longer.
  struct Room {
    enum class For : std::uint8_t { One, NoneNow, None } what = For::One;
    Connections leaving = {};
  };
  /// `urgent`: not even for a moment can one wait.
  Room makeRoom(std::size_t most, ServerTime now, bool urgent = false);
  bool hasRoom(std::size_t most) const;
  /// One that can be closed, as when the process has no descriptors left.
  Connections leastNeeded(ServerTime now);
  /// Whose answers take the most memory, of all others.
  Connections mostUnsentBut(const Closable* connection);

 private:
  struct Entry {
    std::weak_ptr<Closable> connection;
    bool leaving = false;
  };

  struct Candidate;
  std::vector<Candidate> candidatesLocked(ServerTime now);
  Connections chooseLocked(std::vector<Candidate> candidates, std::size_t count);
  void leaveLocked(Entry& entry, Connections& chosen);

  const std::chrono::milliseconds moment_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<Closable*, Entry> entries_;
  std::unordered_map<PeerKey, std::size_t> peers_;
  std::size_t leaving_ = 0;
  bool refusing_ = false;
};

}  // namespace kube::detail
