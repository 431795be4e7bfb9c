#include "kube/client/pods/internal/container_channels.h"

#include <utility>

namespace kube::detail {

bool ContainerChannels::hasSomething() const {
  const Lock lock(blocksMutex_);
  return !blocks_.empty() || ended_;
}

Task<bool> ContainerChannels::waitForSomething() {
  return changed_.wait([this]() KUBE_REQUIRES(blocksMutex_) { return !blocks_.empty() || ended_; });
}

bool ContainerChannels::take(Block& block) {
  const Lock lock(blocksMutex_);
  if (block.bytes.capacity() > spare_.capacity()) spare_.swap(block.bytes);
  block.bytes.clear();
  if (blocks_.empty()) return false;
  block = std::move(blocks_.front());
  blocks_.pop_front();
  return true;
}

std::size_t ContainerChannels::onData(std::string_view piece, bool first, bool) {
  std::size_t done = 0;
  if (first) channel_.reset();
  if (!channel_) {
    if (piece.empty()) return 0;
    channel_ = static_cast<std::uint8_t>(piece[0]);
    piece.remove_prefix(1);
    done = 1;
  }
  if (*channel_ == kStdout || *channel_ == kStderr) {
    if (!piece.empty()) add(piece);
    return done;
  }
  if (*channel_ == kStatus) {
    const Lock lock(blocksMutex_);
    status_ += piece.substr(0, kMaxStatus - status_.size());
  }
  return done + piece.size();
}

void ContainerChannels::add(std::string_view piece) {
  const Lock lock(blocksMutex_);
  while (!piece.empty()) {
    if (blocks_.empty() || blocks_.back().channel != *channel_ ||
        blocks_.back().bytes.size() >= kBlock) {
      blocks_.push_back({*channel_, std::exchange(spare_, {})});
      blocks_.back().bytes.clear();
    }
    std::string& last = blocks_.back().bytes;
    const std::string_view part = piece.substr(0, kBlock - last.size());
    last.append(part);
    piece.remove_prefix(part.size());
  }
  changed_.notifyAll();
}

void ContainerChannels::onClosed(WebSocketEnd end) noexcept {
  const Lock lock(blocksMutex_);
  end_ = std::move(end);
  ended_ = true;
  changed_.notifyAll();
}

}  // namespace kube::detail
