#include "kube/client/pods/internal/tunnel_stream.h"

#include <fmt/core.h>

#include <utility>

#include "kube/base/error.h"
#include "kube/client/pods/internal/port_tunnel.h"

namespace kube::detail {

namespace {

constexpr std::size_t kKeptBuffer = 256 << 10;

[[noreturn]] void throwCanceled(const std::string& doing) {
  throw CanceledError(doing + "canceled");
}

}  // namespace

void TunnelStream::throwIfFailed() const {
  if (dropped_) throwCanceled(doing_);
  if (over_ && !problem_.empty()) throw TransportError(doing_ + problem_);
}

Task<std::optional<std::string_view>> TunnelStream::read() {
  const TaskContext& context = co_await CurrentContext();
  if (context.stop.stop_requested()) throwCanceled(doing_);
  tunnel_->consumed(takeHeld());
  reading_.clear();
  if (reading_.capacity() > kKeptBuffer) reading_.shrink_to_fit();
  const auto ready = [this]() KUBE_REQUIRES(arrivedMutex_) {
    return !arrived_.empty() || podEnded_ || over_;
  };
  const bool there = co_await changed_.wait(ready);
  if (!there) throwCanceled(doing_);
  const Lock lock(arrivedMutex_);
  if (!arrived_.empty()) {
    reading_.swap(arrived_);
    held_ = reading_.size();
    co_return std::string_view(reading_);
  }
  throwIfFailed();
  co_return std::nullopt;
}

Task<void> TunnelStream::over() {
  const auto ready = [this]() KUBE_REQUIRES(arrivedMutex_) { return over_; };
  const bool there = co_await changed_.wait(ready);
  if (!there) throwCanceled(doing_);
  const Lock lock(arrivedMutex_);
  throwIfFailed();
}

Task<bool> TunnelStream::waitForRoom() {
  const bool there = co_await tunnel_->waitForRoom(*this);
  if (!there) throwCanceled(doing_);
  const Lock lock(arrivedMutex_);
  if (dropped_) throwCanceled(doing_);
  co_return !over_;
}

bool TunnelStream::send(std::string_view bytes) {
  if (outputEnded_ || isOver()) return false;
  tunnel_->send(id_, bytes);
  return true;
}

bool TunnelStream::endOutput() {
  if (outputEnded_) return true;
  outputEnded_ = tunnel_->endOutput(id_);
  return outputEnded_;
}

void TunnelStream::drop() {
  std::size_t unread = 0;
  {
    const Lock lock(arrivedMutex_);
    dropped_ = over_ = true;
    unread = std::exchange(arrived_, {}).size() + std::exchange(held_, 0);
    changed_.notifyAll();
  }
  tunnel_->drop(id_);
  tunnel_->consumed(unread);
}

std::size_t TunnelStream::takeHeld() {
  const Lock lock(arrivedMutex_);
  return std::exchange(held_, 0);
}

std::size_t TunnelStream::arrived(std::string_view bytes) {
  const Lock lock(arrivedMutex_);
  if (dropped_) return bytes.size();
  arrived_ += bytes;
  changed_.notifyAll();
  return 0;
}

void TunnelStream::podEnded() {
  const Lock lock(arrivedMutex_);
  podEnded_ = true;
  changed_.notifyAll();
}

void TunnelStream::podGone(const std::string& problem) {
  const Lock lock(arrivedMutex_);
  if (std::exchange(over_, true)) return;
  problem_ = problem;
  changed_.notifyAll();
}

bool TunnelStream::isOver() const {
  const Lock lock(arrivedMutex_);
  return over_;
}

}  // namespace kube::detail
