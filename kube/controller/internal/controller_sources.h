// The sources of a controller, and which of them run.
//
// Handles of sources share this with the controller, and may outlive it.
//
// Thread safety: every method may be called from any thread, begin() and end() by one run at a
// time. No lock is held while a source starts or ends.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"
#include "kube/controller/controller_source.h"
#include "kube/controller/internal/controller_intake.h"

namespace kube::detail {

/// A source that feeds a controller.
class RunningSource {
 public:
  virtual ~RunningSource() = default;
  /// Returns false if a stop is requested first, or the source has ended. The source outlives the
  /// task.
  virtual Task<bool> waitForSync() const = 0;
  /// Returns when no function of the source runs any more, unless that function itself calls this.
  /// May be called again.
  virtual void end() = 0;
  /// The state as text, for a source that does not sync.
  virtual std::string describe() const { return {}; }
};

/// Starts a source for each run of the controller.
template <ControllerKey Key>
class KeySource {
 public:
  using Intake = std::shared_ptr<ControllerIntake<Key>>;

  virtual ~KeySource() = default;
  virtual std::string name() const = 0;
  /// `late`: the workers run already.
  virtual std::shared_ptr<RunningSource> start(const Intake& intake, bool late) const = 0;
};

template <ControllerKey Key>
class ControllerSources final : public std::enable_shared_from_this<ControllerSources<Key>> {
 public:
  using Intake = typename KeySource<Key>::Intake;

  class Slot final : public SourceState {
   public:
    Slot(std::shared_ptr<ControllerSources> sources, std::unique_ptr<const KeySource<Key>> source)
        : sources_(std::move(sources)), name_(source->name()), source_(std::move(source)) {}

    const std::string& name() const noexcept override { return name_; }
    void drop() override { sources_->drop(*this); }
    Task<bool> waitForSync() const override {
      const std::shared_ptr<RunningSource> source = running();
      if (source == nullptr) co_return false;
      co_return co_await source->waitForSync();
    }
    /// Null if it does not run.
    std::shared_ptr<RunningSource> running() const { return sources_->runningOf(*this); }
    bool dropped() const { return sources_->isDropped(*this); }

   private:
    friend class ControllerSources;
    // A source in the list holds the list, and the list holds it until clear().
    const std::shared_ptr<ControllerSources> sources_;
    const std::string name_;
    // Guarded by sourcesMutex_ of the list, except in start().
    std::unique_ptr<const KeySource<Key>> source_;  // null once it is dropped
    std::shared_ptr<RunningSource> running_;
    std::thread::id starting_;  // none: no thread starts it
    bool dropped_ = false;
  };
  using Slots = std::vector<std::shared_ptr<Slot>>;

  /// Starts it at once if the controller runs; throws what its start throws.
  std::shared_ptr<Slot> add(std::unique_ptr<const KeySource<Key>> source) {
    auto slot = std::make_shared<Slot>(this->shared_from_this(), std::move(source));
    Intake intake;
    {
      const Lock lock(sourcesMutex_);
      slots_.push_back(slot);
      intake = intake_;
      if (intake != nullptr) slot->starting_ = std::this_thread::get_id();
    }
    if (intake == nullptr) return slot;
    try {
      start(*slot, intake, true);
    } catch (...) {
      drop(*slot);
      throw;
    }
    return slot;
  }

  /// Starts all. Returns those that were added before, for waiting.
  Slots begin(const Intake& intake) {
    Slots slots;
    {
      const Lock lock(sourcesMutex_);
      intake_ = intake;
      slots = slots_;
      for (const auto& slot : slots) slot->starting_ = std::this_thread::get_id();
    }
    for (auto slot = slots.begin(); slot != slots.end(); ++slot) {
      try {
        start(**slot, intake, false);
      } catch (...) {
        const Lock lock(sourcesMutex_);
        for (; slot != slots.end(); ++slot) (*slot)->starting_ = {};
        started_.notify_all();
        throw;
      }
    }
    return slots;
  }

  /// Ends all. They start again with the next run.
  void end() {
    std::vector<std::shared_ptr<RunningSource>> running;
    {
      Lock lock(sourcesMutex_);
      intake_ = nullptr;
      started_.wait(lock, [this]() KUBE_REQUIRES(sourcesMutex_) {
        return std::ranges::none_of(
            slots_, [](const auto& slot) { return slot->starting_ != std::thread::id(); });
      });
      for (const auto& slot : slots_) {
        if (slot->running_) running.push_back(std::exchange(slot->running_, nullptr));
      }
    }
    for (const auto& source : running) source->end();
  }

  /// Drops all, since the controller is gone.
  void clear() {
    Slots slots;
    {
      const Lock lock(sourcesMutex_);
      slots.swap(slots_);
      for (const auto& slot : slots) slot->dropped_ = true;
    }
    for (const auto& slot : slots) slot->source_ = nullptr;
  }

 private:
  void start(Slot& slot, const Intake& intake, bool late) {
    std::shared_ptr<RunningSource> running;
    const auto noteStarted = [&] {
      const Lock lock(sourcesMutex_);
      slot.starting_ = {};
      // The run may have ended meanwhile, or another source may have dropped this one.
      if (!slot.dropped_ && intake_ == intake) slot.running_ = std::exchange(running, nullptr);
      started_.notify_all();
    };
    try {
      running = slot.source_->start(intake, late);
    } catch (...) {
      noteStarted();
      throw;
    }
    noteStarted();
    if (running) running->end();
  }

  void drop(Slot& slot) {
    std::shared_ptr<RunningSource> running;
    std::shared_ptr<Slot> kept;  // until it has ended
    // Its functions may hold the handle of the source.
    std::unique_ptr<const KeySource<Key>> source;
    {
      Lock lock(sourcesMutex_);
      slot.dropped_ = true;
      if (slot.starting_ != std::this_thread::get_id()) {
        started_.wait(lock, [&]() KUBE_REQUIRES(sourcesMutex_) {
          return slot.starting_ == std::thread::id();
        });
        source = std::move(slot.source_);
      }
      const auto found = std::ranges::find(slots_, &slot, &std::shared_ptr<Slot>::get);
      if (found != slots_.end()) {
        kept = std::move(*found);
        slots_.erase(found);
      }
      running = std::exchange(slot.running_, nullptr);
    }
    if (running) running->end();
  }

  std::shared_ptr<RunningSource> runningOf(const Slot& slot) const {
    const Lock lock(sourcesMutex_);
    return slot.running_;
  }
  bool isDropped(const Slot& slot) const {
    const Lock lock(sourcesMutex_);
    return slot.dropped_;
  }

  mutable Mutex sourcesMutex_;
  std::condition_variable started_;
  Slots slots_ KUBE_GUARDED_BY(sourcesMutex_);
  Intake intake_ KUBE_GUARDED_BY(sourcesMutex_);  // null: the controller does not run
};

extern template class ControllerSources<ObjectKey>;

}  // namespace kube::detail
