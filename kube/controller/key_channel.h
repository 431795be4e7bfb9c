// Keys that the program itself brings to a controller, such as those of a webhook of another
// system.
//
//   kube::KeyChannel<> pushed("webhook", {.capacity = 100});
//   networks.source(pushed);
//   ...
//   if (!pushed.tryPush(key)) return answer(503);            // on any thread
//   pushed.push(key, stop);                                  // waits while it is full
//   const bool in = co_await pushed.async().push(key);
//
// The channel holds each key from its push until a worker takes it, and each key once. So a program
// pushes no faster than the controller works, and a push is not lost if the controller does not run
// yet, does not lead, or ends before it has taken the key: the next run takes it.
//
// One controller at a time reads a channel.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"
#include "kube/controller/internal/controller_sources.h"
#include "kube/workqueue/internal/item_hash.h"

namespace kube {

struct KeyChannelOptions {
  /// The number of keys that have not been taken.
  std::size_t capacity = 1024;
};

namespace detail {

template <ControllerKey Key>
class ChannelState final : public TakenKeys<Key>,
                           public std::enable_shared_from_this<ChannelState<Key>> {
 public:
  using Intake = std::shared_ptr<ControllerIntake<Key>>;

  ChannelState(std::string name, std::size_t capacity)
      : name_(std::move(name)), capacity_(capacity) {
    if (capacity == 0) throw Error("channel \"" + name_ + "\": the capacity must not be 0");
  }

  const std::string& name() const noexcept { return name_; }
  std::size_t size() const {
    const Lock lock(heldMutex_);
    return held_.size();
  }

  bool tryPush(const Key& key, int priority) {
    Intake intake;
    {
      const Lock lock(heldMutex_);
      if (!hasRoomFor(key)) return false;
      const auto [held, isNew] = held_.try_emplace(key, priority);
      if (!isNew && priority > held->second) held->second = priority;
      intake = intake_;
    }
    // Also for a key that is held already: a worker may have taken it from the queue just now.
    if (intake) wake(*intake, key, priority);
    return true;
  }
  static Task<bool> push(std::shared_ptr<ChannelState> channel, Key key, int priority) {
    const auto room = [&]() KUBE_NOT_CHECKED { return channel->hasRoomFor(key); };
    for (;;) {
      const bool any = co_await channel->changed_.wait(room);
      if (!any) co_return false;
      if (channel->tryPush(key, priority)) co_return true;
    }
  }

  void attach(const Intake& intake) {
    // First, since workers may take keys as soon as they are in the queue.
    intake->tell(this->shared_from_this());
    std::vector<std::pair<Key, int>> held;
    {
      const Lock lock(heldMutex_);
      if (intake_) {
        intake->tellNoMore(this);
        throw Error("channel \"" + name_ + "\": controller \"" + intake_->name() +
                    "\" reads it already");
      }
      intake_ = intake;
      held.assign(held_.begin(), held_.end());
    }
    for (const auto& [key, priority] : held) wake(*intake, key, priority);
  }
  void detach() {
    Intake intake;
    {
      const Lock lock(heldMutex_);
      intake.swap(intake_);
    }
    if (intake) intake->tellNoMore(this);
  }

  void taken(const Key& key) override {
    const Lock lock(heldMutex_);
    const bool wasFull = held_.size() >= capacity_;
    if (held_.erase(key) != 0 && wasFull) changed_.notifyAll();
  }

 private:
  bool hasRoomFor(const Key& key) const KUBE_REQUIRES(heldMutex_) {
    return held_.size() < capacity_ || held_.contains(key);
  }
  void wake(ControllerIntake<Key>& intake, const Key& key, int priority) {
    intake.wake(key, priority, [&] { return WakeReason{.source = String(name_)}; });
  }

  const std::string name_;
  const std::size_t capacity_;
  mutable Mutex heldMutex_;
  Condition changed_{heldMutex_};
  // With the highest priority of the pushes.
  std::unordered_map<Key, int, ItemHash<Key>> held_ KUBE_GUARDED_BY(heldMutex_);
  Intake intake_ KUBE_GUARDED_BY(heldMutex_);  // null: no controller reads it
};

template <ControllerKey Key>
class ChannelSource final : public KeySource<Key> {
 public:
  using Intake = typename KeySource<Key>::Intake;
  using Channel = std::shared_ptr<ChannelState<Key>>;

  explicit ChannelSource(Channel channel) : channel_(std::move(channel)) {}
  std::string name() const override { return channel_->name(); }
  std::shared_ptr<RunningSource> start(const Intake& intake, bool) const override {
    channel_->attach(intake);
    return std::make_shared<Running>(channel_);
  }

 private:
  class Running final : public RunningSource {
   public:
    explicit Running(Channel channel) : channel_(std::move(channel)) {}
    Task<bool> waitForSync() const override { co_return true; }
    void end() override { channel_->detach(); }

   private:
    const Channel channel_;
  };

  const Channel channel_;
};

extern template class ChannelState<ObjectKey>;
extern template class ChannelSource<ObjectKey>;

struct ChannelAccess;

}  // namespace detail

/// The awaitable form of a KeyChannel.
template <ControllerKey Key = ObjectKey>
class AsyncKeyChannel {
 public:
  explicit AsyncKeyChannel(std::shared_ptr<detail::ChannelState<Key>> state)
      : state_(std::move(state)) {}

  /// As KeyChannel::push(): false after a stop of the tree.
  Task<bool> push(Key key, int priority = 0) const {
    return detail::ChannelState<Key>::push(state_, std::move(key), priority);
  }

 private:
  std::shared_ptr<detail::ChannelState<Key>> state_;
};

template <ControllerKey Key = ObjectKey>
class KeyChannel {
 public:
  /// The name appears in the reasons of a reconcile. Throws Error for a capacity of 0.
  explicit KeyChannel(std::string name, KeyChannelOptions options = {})
      : state_(std::make_shared<detail::ChannelState<Key>>(std::move(name), options.capacity)) {}

  /// Returns false if the channel is full. A key that it holds always has room.
  bool tryPush(const Key& key, int priority = 0) const { return state_->tryPush(key, priority); }
  /// Waits while the channel is full. Returns false if a stop is requested first.
  bool push(const Key& key, const std::stop_token& stop = {}, int priority = 0) const {
    return detail::runBlocking(async().push(key, priority), stop);
  }
  /// The awaitable form of push().
  AsyncKeyChannel<Key> async() const { return AsyncKeyChannel<Key>(state_); }
  /// The number of keys that no worker has taken yet.
  std::size_t size() const { return state_->size(); }

 private:
  friend struct detail::ChannelAccess;

  std::shared_ptr<detail::ChannelState<Key>> state_;
};

struct detail::ChannelAccess {
  template <ControllerKey Key>
  static std::unique_ptr<const KeySource<Key>> sourceOf(const KeyChannel<Key>& channel) {
    return std::make_unique<ChannelSource<Key>>(channel.state_);
  }
};

}  // namespace kube
