// Changes of an informer's objects as a source of keys.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/internal/thread_tree.h"
#include "kube/base/task_scope.h"
#include "kube/cache/handler_registration.h"
#include "kube/cache/internal/informer_core.h"
#include "kube/controller/internal/controller_sources.h"

namespace kube::detail {

/// Maps changes of an informer's objects to keys of a controller, whatever the type of the objects.
template <ControllerKey Key>
class ChangeKeys {
 public:
  virtual ~ChangeKeys() = default;
  /// Returns whether a change matters. `before` is null for an addition, `after` for a deletion.
  virtual bool matters(const void* before, const void* after) const = 0;
  /// Returns the keys for an object in one state.
  virtual std::vector<Key> keysOf(const void* object) const = 0;
  /// True if the states before and after an update may have different keys: the owner, or the
  /// result of a map, may have changed.
  virtual bool mayChange() const { return true; }
};

// TakesTime for map functions, which users write.
enum class Adding : bool { TakesTime, IsQuick };

/// The handler that a controller has in an informer while it runs.
template <ControllerKey Key>
class SourceHandler final : public NotificationHandler {
 public:
  using Intake = std::shared_ptr<ControllerIntake<Key>>;

  /// Keeps the keys of a late source until its cache has synced.
  class Gate {
   public:
    /// Returns false if the gate is open.
    bool keep(const Key& key, int priority, const WakeReason& reason) {
      const Lock lock(keptMutex_);
      if (open_) return false;
      kept_.push_back({key, priority, reason});
      return true;
    }
    void open(ControllerIntake<Key>& intake) {
      std::vector<Kept> kept;
      {
        const Lock lock(keptMutex_);
        open_ = true;
        kept.swap(kept_);
      }
      for (const Kept& one : kept) {
        intake.wake(one.key, one.priority, [&] { return one.reason; });
      }
    }

   private:
    struct Kept {
      Key key;
      int priority;
      WakeReason reason;
    };
    Mutex keptMutex_;
    bool open_ KUBE_GUARDED_BY(keptMutex_) = false;
    std::vector<Kept> kept_ KUBE_GUARDED_BY(keptMutex_);
  };

  SourceHandler(const InformerCore& informer, std::shared_ptr<const ChangeKeys<Key>> keys,
                Intake intake, std::shared_ptr<Gate> gate)
      : type_(informer.store()->type()),
        name_(informer.name()),
        keys_(std::move(keys)),
        intake_(std::move(intake)),
        gate_(std::move(gate)) {}

  void handle(const Notification& notification) const override {
    using Change = WakeReason::Change;
    const void* before = notification.before.get();
    const void* after = notification.after.get();
    if (!keys_->matters(before, after) || !passes(before, after)) return;
    switch (notification.type) {
      case Notification::Type::Add:
        return addAll(keys_->keysOf(after), notification.inInitialList ? kNotUrgent : kUsual,
                      Change::Added, after);
      case Notification::Type::Update:
        return update(before, after);
      case Notification::Type::Delete:
        return addAll(keys_->keysOf(before), kUsual, Change::Deleted, before);
    }
  }

 private:
  // Keys of the first list and of resyncs wait behind keys of changes.
  static constexpr int kUsual = 0;
  static constexpr int kNotUrgent = -100;

  bool passes(const void* before, const void* after) const {
    const auto& filter = intake_->filter();
    if (!filter) return true;
    std::optional<ObjectView> old, now;
    if (before != nullptr) old.emplace(type_, before);
    if (after != nullptr) now.emplace(type_, after);
    return filter({old ? &*old : nullptr, now ? &*now : nullptr});
  }
  void addAll(const std::vector<Key>& keys, int priority, WakeReason::Change change,
              const void* object) const {
    const auto reason = [&]() -> WakeReason {
      const ObjectView view(type_, object);
      return {.source = name_, .kind = view.kind(), .object = view.key(), .change = change};
    };
    for (const Key& key : keys) {
      if (gate_ && gate_->keep(key, priority, reason())) continue;
      intake_->wake(key, priority, reason);
    }
  }
  void update(const void* before, const void* after) const {
    std::vector<Key> keys = keys_->keysOf(after);
    if (type_.resourceVersionOf(before) == type_.resourceVersionOf(after)) {
      return addAll(keys, kNotUrgent, WakeReason::Change::Resynced, after);
    }
    // Each key is added once: a worker may finish it before it would be added a second time.
    if (keys_->mayChange()) {
      for (Key& key : keys_->keysOf(before)) {
        if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
      }
    }
    addAll(keys, kUsual, WakeReason::Change::Updated, after);
  }

  const ObjectType& type_;
  const String name_;
  const std::shared_ptr<const ChangeKeys<Key>> keys_;
  const Intake intake_;
  const std::shared_ptr<Gate> gate_;  // null for a source that starts with the run
};

template <ControllerKey Key>
class InformerSource final : public KeySource<Key> {
 public:
  using Intake = typename KeySource<Key>::Intake;

  /// `beforeLate` is called before a late start, to run the informer.
  InformerSource(std::shared_ptr<InformerCore> informer, Adding adding,
                 std::shared_ptr<const ChangeKeys<Key>> keys, std::function<void()> beforeLate)
      : informer_(std::move(informer)),
        adding_(adding),
        keys_(std::move(keys)),
        beforeLate_(std::move(beforeLate)) {}

  std::string name() const override { return std::string(informer_->name()); }

  std::shared_ptr<RunningSource> start(const Intake& intake, bool late) const override {
    using Handler = SourceHandler<Key>;
    auto gate = late ? std::make_shared<typename Handler::Gate>() : nullptr;
    auto handler = std::make_unique<Handler>(*informer_, keys_, intake, gate);
    auto queue = informer_->addHandler(
        std::move(handler), {.name = intake->name(), .quick = adding_ == Adding::IsQuick});
    auto running = std::make_shared<Running>(
        informer_, HandlerRegistration(informer_->handlers(), std::move(queue)));
    if (!late) return running;
    try {
      running->openWhenSynced(intake, std::move(gate));
      if (beforeLate_) beforeLate_();
    } catch (...) {
      running->end();
      throw;
    }
    return running;
  }

 private:
  class Running final : public RunningSource {
   public:
    Running(std::shared_ptr<InformerCore> informer, HandlerRegistration handler)
        : informer_(std::move(informer)), handler_(std::move(handler)) {}

    Task<bool> waitForSync() const override {
      const bool synced = co_await handler_.async().waitForSync();
      if (synced && gate_) gate_->open(*intake_);
      co_return synced;
    }
    void end() override {
      handler_.remove();
      opening_.reset();
    }
    std::string describe() const override { return informer_->describe(); }
    void openWhenSynced(const Intake& intake,
                        std::shared_ptr<typename SourceHandler<Key>::Gate> gate) {
      intake_ = intake;
      gate_ = std::move(gate);
      opening_.emplace(taskThreadsExecutor());
      opening_->start(open(handler_, intake_, gate_), "the sync of a source");
    }

   private:
    static Task<void> open(HandlerRegistration handler, Intake intake,
                           std::shared_ptr<typename SourceHandler<Key>::Gate> gate) {
      const bool synced = co_await handler.async().waitForSync();
      if (synced) gate->open(*intake);
    }

    const std::shared_ptr<InformerCore> informer_;
    const HandlerRegistration handler_;
    Intake intake_;                                            // with the gate
    std::shared_ptr<typename SourceHandler<Key>::Gate> gate_;  // null unless it was added late
    std::optional<TaskScope> opening_;  // used by the thread that starts or ends the source
  };

  const std::shared_ptr<InformerCore> informer_;
  const Adding adding_;
  const std::shared_ptr<const ChangeKeys<Key>> keys_;
  const std::function<void()> beforeLate_;
};

extern template class SourceHandler<ObjectKey>;
extern template class InformerSource<ObjectKey>;

}  // namespace kube::detail
