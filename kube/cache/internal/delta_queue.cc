#include "kube/cache/internal/delta_queue.h"

#include <ostream>
#include <unordered_set>
#include <utility>

#include "kube/base/error.h"

namespace kube {

std::string_view toString(DeltaType type) noexcept {
  switch (type) {
    case DeltaType::Added:
      return "Added";
    case DeltaType::Updated:
      return "Updated";
    case DeltaType::Deleted:
      return "Deleted";
    case DeltaType::Replaced:
      return "Replaced";
    case DeltaType::Sync:
      return "Sync";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, DeltaType type) { return out << toString(type); }

namespace detail {

DeltaQueue::DeltaQueue(const ObjectType& type, const UntypedStore* known)
    : type_(type), known_(known) {}
DeltaQueue::~DeltaQueue() = default;

// If nothing has come before.
void DeltaQueue::setPopulated(std::size_t initial) {
  if (std::exchange(populated_, true)) return;
  initial_ = initial;
  if (initial == 0) syncedChanged_.notify_all();
}

void DeltaQueue::enqueue(const ObjectKey& key, Delta<void> delta) {
  const auto [item, fresh] = items_.try_emplace(key);
  Changes& changes = item->second;
  if (fresh) {
    queue_.push_back(key);
    changed_.notify_all();
  } else if (delta.type == DeltaType::Deleted && changes.back().type == DeltaType::Deleted) {
    // One of the two, if possible one that knows the final state.
    if (changes.back().finalStateUnknown) changes.back() = std::move(delta);
    return;
  }
  changes.push_back(std::move(delta));
}

// The last that is queued for a key or in the consumer's hands; null if nothing is.
const Delta<void>* DeltaQueue::newest(const ObjectKey& key) const {
  if (const auto found = items_.find(key); found != items_.end()) return &found->second.back();
  if (inHand_ && inHand_->key == key) return &inHand_->newest();
  return nullptr;
}

void DeltaQueue::change(DeltaType type, Object object) {
  if (object == nullptr) throw Error("delta queue: an object to be added is null");
  const ObjectKey key = type_.keyOf(object.get());
  const std::lock_guard lock(itemsMutex_);
  setPopulated(0);
  enqueue(key, {type, std::move(object)});
}

void DeltaQueue::remove(Object object) {
  if (object == nullptr) throw Error("delta queue: an object to be removed is null");
  const ObjectKey key = type_.keyOf(object.get());
  const std::lock_guard lock(itemsMutex_);
  setPopulated(0);
  const Delta<void>* last = newest(key);
  if (last == nullptr) {
    if (known_ == nullptr || !known_->contains({key.namespace_, key.name})) return;
  } else if (last->type == DeltaType::Deleted && !items_.contains(key)) {
    return;  // that deletion is being processed
  }
  enqueue(key, {DeltaType::Deleted, std::move(object)});
}

// Queues that an object was missing from a list; says whether it did.
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
  const std::lock_guard lock(itemsMutex_);
  const std::size_t before = queue_.size();
  std::unordered_set<ObjectKey, KeyHash> listed;  // to find what was queued and is not
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
  const auto unknown = [&](const ObjectKey& key) { return !items_.contains(key); };
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
  const std::lock_guard lock(itemsMutex_);
  const Delta<void>* queued = newest(key);
  if (queued != nullptr) return queued->type == DeltaType::Deleted ? nullptr : queued->object;
  return known_ != nullptr ? known_->find({key.namespace_, key.name}) : nullptr;
}

void DeltaQueue::resync() {
  if (known_ == nullptr) return;
  const std::lock_guard lock(itemsMutex_);
  for (Object& object : known_->list<void>({})) {
    const ObjectKey key = type_.keyOf(object.get());
    // What is under way will tell newer than what is known.
    if (newest(key) == nullptr) enqueue(key, {DeltaType::Sync, std::move(object)});
  }
}

bool DeltaQueue::pop(const std::stop_token& stop, const Process& process) {
  std::unique_lock lock(itemsMutex_);
  changed_.wait(lock, stop, [&] { return !inHand_ && (!queue_.empty() || closed_); });
  if (stop.stop_requested()) return false;
  return take(lock, process);
}

bool DeltaQueue::tryPop(const Process& process) {
  std::unique_lock lock(itemsMutex_);
  return take(lock, process);
}

bool DeltaQueue::take(std::unique_lock<std::mutex>& lock, const Process& process) {
  if (inHand_ || queue_.empty()) return false;
  {
    auto item = items_.extract(queue_.front());
    queue_.pop_front();
    inHand_.emplace(Deltas<void>{std::move(item.key()), std::move(item.mapped()), !synced()});
  }
  struct Done {
    DeltaQueue& queue;
    std::unique_lock<std::mutex>& lock;
    ~Done() {
      std::optional<Deltas<void>> processed;  // let go without the lock
      lock.lock();
      if (queue.initial_ > 0 && --queue.initial_ == 0) queue.syncedChanged_.notify_all();
      processed.swap(queue.inHand_);
      queue.changed_.notify_all();
      lock.unlock();
    }
  };
  lock.unlock();
  const Done done{*this, lock};
  process(std::as_const(*inHand_));
  return true;
}

bool DeltaQueue::hasSynced() const {
  const std::lock_guard lock(itemsMutex_);
  return synced();
}

bool DeltaQueue::waitForSync(const std::stop_token& stop) const {
  std::unique_lock lock(itemsMutex_);
  syncedChanged_.wait(lock, stop, [&] { return synced() || closed_; });
  return synced();
}

std::size_t DeltaQueue::size() const {
  const std::lock_guard lock(itemsMutex_);
  return items_.size();
}

void DeltaQueue::close() {
  const std::lock_guard lock(itemsMutex_);
  closed_ = true;
  changed_.notify_all();
  syncedChanged_.notify_all();
}

bool DeltaQueue::isClosed() const {
  const std::lock_guard lock(itemsMutex_);
  return closed_;
}

}  // namespace detail

}  // namespace kube
