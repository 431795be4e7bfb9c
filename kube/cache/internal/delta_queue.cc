#include "kube/cache/internal/delta_queue.h"

#include <unordered_set>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"

namespace kube::detail {

DeltaQueue::DeltaQueue(const ObjectType& type, const UntypedStore* known)
    : type_(type), known_(known) {}
DeltaQueue::~DeltaQueue() = default;

// Records the first change, and how many objects of the initial list are queued.
void DeltaQueue::setPopulated(std::size_t initial) {
  if (std::exchange(populated_, true)) return;
  initial_ = initial;
  if (initial == 0) syncedChanged_.notifyAll();
}

void DeltaQueue::enqueue(const ObjectKey& key, Delta<void> delta) {
  const auto [item, fresh] = items_.try_emplace(key);
  Changes& changes = item->second;
  if (fresh) {
    queue_.push_back(key);
    changed_.notify_all();
  } else if (delta.type == DeltaType::Deleted && changes.back().type == DeltaType::Deleted) {
    // Keep one of the two deletions, if possible the one with the final state.
    if (changes.back().finalStateUnknown) changes.back() = std::move(delta);
    return;
  }
  changes.push_back(std::move(delta));
}

// The newest change of a key that is queued or in the consumer's hands; null if there is none.
const Delta<void>* DeltaQueue::newest(const ObjectKey& key) const {
  if (const auto found = items_.find(key); found != items_.end()) return &found->second.back();
  if (inHand_ && inHand_->key == key) return &inHand_->newest();
  return nullptr;
}

void DeltaQueue::change(DeltaType type, Object object) {
  if (object == nullptr) throw Error("delta queue: an object to be added is null");
  const ObjectKey key = type_.keyOf(object.get());
  const Lock lock(itemsMutex_);
  setPopulated(0);
  enqueue(key, {type, std::move(object)});
}

void DeltaQueue::remove(Object object) {
  if (object == nullptr) throw Error("delta queue: an object to be removed is null");
  const ObjectKey key = type_.keyOf(object.get());
  const Lock lock(itemsMutex_);
  setPopulated(0);
  const Delta<void>* last = newest(key);
  if (last == nullptr) {
    if (known_ == nullptr || !known_->contains({key.namespace_, key.name})) return;
  } else if (last->type == DeltaType::Deleted && !items_.contains(key)) {
    return;  // a consumer is processing the deletion
  }
  enqueue(key, {DeltaType::Deleted, std::move(object)});
}

// Queues a deletion for an object that is missing from a list. Returns false if a deletion is being
// processed already.
bool DeltaQueue::vanish(const ObjectKey& key) {
  Object last;
  if (const Delta<void>* queued = newest(key)) {
    if (queued->type == DeltaType::Deleted && !items_.contains(key)) return false;
    last = queued->object;
  } else {
    last = known_->find({key.namespace_, key.name});
  }
  enqueue(key, {DeltaType::Deleted, std::move(last), true});
  return true;
}

void DeltaQueue::replace(std::vector<Object> objects, const String&) {
  for (const Object& object : objects) {
    if (object == nullptr) throw Error("delta queue: an object of a list is null");
  }
  const Lock lock(itemsMutex_);
  const std::size_t before = queue_.size();
  std::unordered_set<ObjectKey, KeyHash> listed;  // only needed if objects were queued before
  items_.reserve(before + objects.size());
  for (Object& object : objects) {
    if (abandoned_.load(std::memory_order_relaxed)) return;
    const ObjectKey key = type_.keyOf(object.get());
    enqueue(key, {DeltaType::Replaced, std::move(object)});
    if (before != 0) listed.insert(key);
  }
  const std::size_t queued = items_.size();
  std::vector<ObjectKey> missing;
  for (std::size_t i = 0; i < before; ++i) {
    if (!listed.contains(queue_[i])) missing.push_back(queue_[i]);
  }
  const auto unknown = [&](const ObjectKey& key)
                           KUBE_REQUIRES(itemsMutex_) { return !items_.contains(key); };
  bool handKnown = false;
  if (known_ != nullptr) {
    for (ObjectKey& key : known_->listKeys()) {
      if (!unknown(key)) continue;
      handKnown = handKnown || (inHand_ && inHand_->key == key);
      missing.push_back(std::move(key));
    }
  }
  if (inHand_ && !handKnown && unknown(inHand_->key)) missing.push_back(inHand_->key);
  std::size_t deletions = 0;
  for (const ObjectKey& key : missing) deletions += vanish(key) ? 1 : 0;
  setPopulated(queued + deletions);
}

DeltaQueue::Object DeltaQueue::held(const ObjectKey& key) const {
  const Lock lock(itemsMutex_);
  const Delta<void>* queued = newest(key);
  if (queued != nullptr) return queued->type == DeltaType::Deleted ? nullptr : queued->object;
  return known_ != nullptr ? known_->find({key.namespace_, key.name}) : nullptr;
}

void DeltaQueue::resync() {
  if (known_ == nullptr) return;
  const Lock lock(itemsMutex_);
  for (Object& object : known_->list<void>({})) {
    const ObjectKey key = type_.keyOf(object.get());
    // A queued change is newer than the known object.
    if (newest(key) == nullptr) enqueue(key, {DeltaType::Sync, std::move(object)});
  }
}

bool DeltaQueue::pop(const std::stop_token& stop, const Process& process) {
  const Deltas<void>* taken = nullptr;
  {
    Lock lock(itemsMutex_);
    changed_.wait(lock, stop, [&]() KUBE_REQUIRES(itemsMutex_) {
      return !inHand_ && (!queue_.empty() || closed_);
    });
    if (!stop.stop_requested()) taken = take();
  }
  if (taken == nullptr) return false;
  handOver(*taken, process);
  return true;
}

bool DeltaQueue::tryPop(const Process& process) {
  const Deltas<void>* taken = nullptr;
  {
    const Lock lock(itemsMutex_);
    taken = take();
  }
  if (taken == nullptr) return false;
  handOver(*taken, process);
  return true;
}

// Puts the changes of the first object into the consumer's hands. Returns null if nothing is queued
// or another consumer is at work.
const Deltas<void>* DeltaQueue::take() {
  if (inHand_ || queue_.empty()) return nullptr;
  auto item = items_.extract(queue_.front());
  queue_.pop_front();
  inHand_.emplace(Deltas<void>{std::move(item.key()), std::move(item.mapped()), !synced()});
  return &*inHand_;
}

void DeltaQueue::handOver(const Deltas<void>& taken, const Process& process) {
  const Finally done([this] { finish(); });
  process(taken);
}

// Empties the consumer's hands.
void DeltaQueue::finish() {
  std::optional<Deltas<void>> processed;  // destroyed after the lock is released
  const Lock lock(itemsMutex_);
  if (initial_ > 0 && --initial_ == 0) syncedChanged_.notifyAll();
  processed.swap(inHand_);
  changed_.notify_all();
}

bool DeltaQueue::hasSynced() const {
  const Lock lock(itemsMutex_);
  return synced();
}

Task<bool> DeltaQueue::waitForSync() const {
  const auto over = [this]() KUBE_REQUIRES(itemsMutex_) { return synced() || closed_; };
  co_await syncedChanged_.wait(over);
  co_return hasSynced();
}

std::size_t DeltaQueue::size() const {
  const Lock lock(itemsMutex_);
  return items_.size();
}

void DeltaQueue::close() {
  const Lock lock(itemsMutex_);
  closed_ = true;
  changed_.notify_all();
  syncedChanged_.notifyAll();
}

bool DeltaQueue::isClosed() const {
  const Lock lock(itemsMutex_);
  return closed_;
}

}  // namespace kube::detail
