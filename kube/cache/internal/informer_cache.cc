#include "kube/cache/internal/informer_cache.h"

#include <utility>

#include "kube/base/internal/finally.h"
#include "kube/base/internal/threads/after_turn.h"

namespace kube::detail {

// Between two turns of its loop, the thread is like any other.
bool InformerCache::isOnRunner() const noexcept {
  return runner_.load(std::memory_order_relaxed) == std::this_thread::get_id() &&
         !AfterTurn::isWorking();
}

void InformerCache::addRunning(const std::shared_ptr<HandlerQueue>& queue, Clock::Duration resync) {
  const Lock between(changesMutex_);
  for (Object& object : store_->list<void>({})) {
    queue->push(
        {.type = Notification::Type::Add, .inInitialList = true, .after = std::move(object)});
  }
  queue->start();
  handlers_->add(queue, resync);
}

void InformerCache::apply(Object object, bool inInitialList) {
  {
    const Lock lock(changesMutex_);
    Object before = store_->put(object);
    if (before == nullptr) {
      handlers_->distribute({.type = Notification::Type::Add,
                             .inInitialList = inInitialList,
                             .after = std::move(object)},
                            false);
    } else {
      // An update without a change is a resync, which only handlers that are due receive.
      const bool sync =
          type().resourceVersionOf(before.get()) == type().resourceVersionOf(object.get());
      handlers_->distribute({.type = Notification::Type::Update,
                             .before = std::move(before),
                             .after = std::move(object)},
                            sync);
    }
  }
  handlers_->callQuickOnes();
}

void InformerCache::drop(const ObjectKey& key, Object last, bool finalStateUnknown) {
  {
    const Lock lock(changesMutex_);
    Object before = store_->remove({key.namespace_, key.name});
    if (before == nullptr) return;
    handlers_->distribute({.type = Notification::Type::Delete,
                           .finalStateUnknown = finalStateUnknown,
                           .before = last != nullptr ? std::move(last) : std::move(before),
                           .key = key},
                          false);
  }
  handlers_->callQuickOnes();
}

void InformerCache::resync(const std::stop_token& stop) {
  const Finally atTheEnd([this] { handlers_->callOthers(); });
  std::size_t count = 0;
  for (const ObjectKey& key : store_->listKeys()) {
    if (stop.stop_requested()) return;
    {
      // Looked up anew: the object may have changed since, on another thread.
      const Lock lock(changesMutex_);
      const Object object = store_->find({key.namespace_, key.name});
      if (object == nullptr) continue;
      handlers_->distribute({.type = Notification::Type::Update, .before = object, .after = object},
                            true);
    }
    handlers_->callQuickOnes();
    if (++count % kAtATime == 0) handlers_->callOthers();
  }
}

}  // namespace kube::detail
