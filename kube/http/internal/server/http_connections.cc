#include "kube/http/internal/server/http_connections.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace kube::detail {

namespace {

// The time in which a new connection is not closed before others for being silent.
constexpr std::chrono::milliseconds kGrace{500};
// The time that an answer may be in transit.
constexpr std::chrono::milliseconds kAnswerTime{48};

// The order in which connections are closed, lowest first.
int rankOf(Stage stage, bool young) {
  switch (stage) {
    case Stage::Leaving:
      return 0;
    case Stage::Silent:
      return young ? 5 : 1;
    case Stage::Fresh:
      return young ? 6 : 2;
    case Stage::Idle:
      return 3;
    case Stage::Sending:
      return 4;
    case Stage::Working:
    case Stage::Streaming:
      break;
  }
  return 7;
}

}  // namespace

PeerKey peerKey(const sockaddr_storage& address) noexcept {
  PeerKey key = 0;
  if (address.ss_family == AF_INET) {
    std::memcpy(&key, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
  } else if (address.ss_family == AF_INET6) {
    const in6_addr& full = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&full);
    mapped ? std::memcpy(&key, full.s6_addr + 12, 4) : std::memcpy(&key, full.s6_addr, sizeof key);
  }
  return key;
}

bool ConnectionTable::add(const std::shared_ptr<Closable>& connection) {
  const Lock lock(entriesMutex_);
  entries_[connection.get()] = {connection};
  ++peers_[connection->peerKey()];
  return !refusing_;
}

void ConnectionTable::replace(Closable* old, const std::shared_ptr<Closable>& fresh) {
  const Lock lock(entriesMutex_);
  const auto it = entries_.find(old);
  if (it == entries_.end()) return;
  entries_[fresh.get()] = {fresh, it->second.leaving};
  entries_.erase(old);
}

void ConnectionTable::remove(Closable* connection) {
  const Lock lock(entriesMutex_);
  const auto it = entries_.find(connection);
  if (it == entries_.end()) return;
  if (it->second.leaving) --leaving_;
  entries_.erase(it);
  const auto peer = peers_.find(connection->peerKey());
  if (--peer->second == 0) peers_.erase(peer);
  if (entries_.empty()) changed_.notify_all();
}

void ConnectionTable::refuseNew() {
  const Lock lock(entriesMutex_);
  refusing_ = true;
}

bool ConnectionTable::waitUntilEmpty(std::chrono::milliseconds patience) {
  Lock lock(entriesMutex_);
  return changed_.wait_for(lock, patience,
                           [this]() KUBE_REQUIRES(entriesMutex_) { return entries_.empty(); });
}

std::size_t ConnectionTable::size() const {
  const Lock lock(entriesMutex_);
  return entries_.size();
}

ConnectionTable::Connections ConnectionTable::all() const {
  Connections found;
  const Lock lock(entriesMutex_);
  for (const auto& [key, entry] : entries_) {
    if (auto connection = entry.connection.lock()) found.push_back(std::move(connection));
  }
  return found;
}

ConnectionTable::Connections ConnectionTable::overdue(ServerTime now) const {
  Connections found;
  const Lock lock(entriesMutex_);
  for (const auto& [key, entry] : entries_) {
    if (key->standing().deadline() > now) continue;
    if (auto connection = entry.connection.lock()) found.push_back(std::move(connection));
  }
  return found;
}

bool ConnectionTable::hasRoom(std::size_t most) const {
  const Lock lock(entriesMutex_);
  return entries_.size() - leaving_ < most;
}

struct ConnectionTable::Candidate {
  std::size_t peers;
  int rank;
  ServerTime since;
  Stage stage;
  Entry* entry;
  bool operator<(const Candidate& other) const {
    return std::tie(other.peers, rank, since) < std::tie(peers, other.rank, other.since);
  }
};

ConnectionTable::Room ConnectionTable::makeRoom(std::size_t most, ServerTime now, bool urgent) {
  const Lock lock(entriesMutex_);
  if (entries_.size() - leaving_ < most) return {};
  // Several at once, because each choice examines all connections.
  constexpr std::size_t kShare = 64;
  const std::size_t tooMany = entries_.size() - leaving_ - most + 1;
  auto found = candidates(now);
  if (found.empty()) return {Room::For::None};
  if (!urgent) {
    // Connections of the peer with the most only, even if all of them are new.
    const std::size_t peers = std::ranges::max(found, {}, &Candidate::peers).peers;
    std::erase_if(found, [&](const Candidate& candidate) {
      const bool answered = candidate.stage == Stage::Idle || candidate.stage == Stage::Sending;
      const auto least = answered ? std::min(moment_, kAnswerTime) : moment_;
      const bool young = candidate.stage != Stage::Leaving && now < candidate.since + least;
      return candidate.peers < peers || young;
    });
  }
  if (found.size() < tooMany) return {Room::For::NoneNow};
  return {Room::For::One, choose(std::move(found), std::max(most / kShare, tooMany))};
}

ConnectionTable::Connections ConnectionTable::leastNeeded(ServerTime now) {
  const Lock lock(entriesMutex_);
  return choose(candidates(now), 1);
}

std::vector<ConnectionTable::Candidate> ConnectionTable::candidates(ServerTime now) {
  std::vector<Candidate> found;
  found.reserve(entries_.size());
  for (auto& [key, entry] : entries_) {
    const Stage stage = key->standing().stage();
    if (entry.leaving || stage == Stage::Streaming) continue;
    const ServerTime since = key->standing().since();
    found.push_back(
        {peers_[key->peerKey()], rankOf(stage, now < since + kGrace), since, stage, &entry});
  }
  return found;
}

ConnectionTable::Connections ConnectionTable::choose(std::vector<Candidate> candidates,
                                                     std::size_t count) {
  const std::size_t some = std::min(count, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(some),
                    candidates.end());
  Connections chosen;
  for (std::size_t i = 0; i < some; ++i) leave(*candidates[i].entry, chosen);
  return chosen;
}

ConnectionTable::Connections ConnectionTable::mostUnsentBut(const Closable* connection) {
  const Lock lock(entriesMutex_);
  Entry* worst = nullptr;
  std::size_t most = 0;
  for (auto& [key, entry] : entries_) {
    if (key == connection || entry.leaving || key->standing().unsent() <= most) continue;
    most = key->standing().unsent();
    worst = &entry;
  }
  Connections chosen;
  if (worst != nullptr) leave(*worst, chosen);
  return chosen;
}

void ConnectionTable::leave(Entry& entry, Connections& chosen) {
  entry.leaving = true;
  ++leaving_;
  if (auto connection = entry.connection.lock()) chosen.push_back(std::move(connection));
}

}  // namespace kube::detail
