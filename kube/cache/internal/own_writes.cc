#include "kube/cache/internal/own_writes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "kube/meta/resource_version.h"

namespace kube::detail {

namespace {

// True if both are versions, and `reached` is not below the other.
bool has(const String& reached, const String& version) {
  const auto order = tryCompareResourceVersions(reached, version);
  return order && *order >= 0;
}

// The version of the objects of a namespace, or of all; empty if the store does not have them.
String reachedIn(const StoreVersions& versions, std::string_view namespaceName) {
  const auto version = namespaceName.empty() ? versions.all() : versions.in(namespaceName);
  return version != nullptr ? version->get() : String();
}

}  // namespace

OwnWrites::OwnWrites(const ObjectType& type, const Options& options)
    : type_(type),
      patience_(options.patience),
      forgets_(options.forgets),
      clock_(orReal(options.clock)),
      written_(options.capacity),
      removed_(options.capacity) {}

std::size_t OwnWrites::size() const {
  const Lock lock(entriesMutex_);
  return written_.size() + removed_.size();
}

// ---- Writing.

void OwnWrites::wrote(Object object, const UntypedStore* store) {
  const String version = versionOf(object);
  const Lock lock(entriesMutex_);
  if (!isResourceVersion(version)) {
    incomparable_ = !forgets_;
  } else {
    noteLatest(version);
  }
  if (store == nullptr) {
    // Nothing drops entries before there is a store, so none are kept.
    lose(version);
  } else {
    const ObjectKey key = type_.keyOf(object.get());
    const String reached = reachedIn(store->versions(), key.namespace_);
    const Object shown = store->find({key.namespace_, key.name});
    // Another client has deleted it, or the server has another history.
    const bool missed = shown == nullptr || !has(versionOf(shown), version);
    if (missed && has(reached, version)) loseUnknown();
    const Written* const before = written_.peek(key);
    // Answers of other threads may be late.
    if (before == nullptr || has(version, versionOf(before->object))) {
      const auto dropped = written_.put(key, {std::move(object), clock_.deadlineAfter(patience_)});
      if (dropped) lose(versionOf(dropped->second.object));
    }
    behind(*store, key.namespace_);
  }
  noteWhetherAny();
}

void OwnWrites::removed(const ObjectKey& key, const String& uid, String version,
                        const UntypedStore* store) {
  const Lock lock(entriesMutex_);
  if (store == nullptr || uid.empty()) {
    loseUnknown();
  } else {
    const auto noteVersion = [&](const Object& object) {
      if (version.empty() && type_.uidOf(object.get()) == uid) version = versionOf(object);
    };
    if (const Written* const own = written_.peek(key)) noteVersion(own->object);
    if (const Object shown = store->find({key.namespace_, key.name})) noteVersion(shown);
    everUnknown_ = true;
    if (removed_.put(uid, {key, std::move(version), clock_.deadlineAfter(patience_)})) {
      loseUnknown();
    }
    behind(*store, key.namespace_);
  }
  noteWhetherAny();
}

void OwnWrites::wroteAt(const String& version) {
  const Lock lock(entriesMutex_);
  isResourceVersion(version) ? lose(version) : loseUnknown();
  noteWhetherAny();
}

void OwnWrites::wroteSomething() {
  const Lock lock(entriesMutex_);
  loseUnknown();
  noteWhetherAny();
}

void OwnWrites::lose(const String& version) {
  if (forgets_) return;
  if (lost_.empty() || has(version, lost_)) lost_ = version;
  noteLatest(version);
}

void OwnWrites::loseUnknown() {
  unknown_ = everUnknown_ = !forgets_;
  ++question_;
}

std::optional<OwnWrites::Question> OwnWrites::unknown() {
  const Lock lock(entriesMutex_);
  if (of_ != nullptr) reachedThen_ = of_->all()->get();
  return unknown_ && !incomparable_ ? std::optional(question_) : std::nullopt;
}

void OwnWrites::answer(Question question, const String& version) {
  const Lock lock(entriesMutex_);
  if (question != question_ || !unknown_) return;
  if (!isResourceVersion(version)) {
    incomparable_ = true;
    return;
  }
  // A server below its informer has another history: the informer will list anew.
  if (!has(version, reachedThen_) && isResourceVersion(reachedThen_)) return;
  unknown_ = false;
  lose(version);
}

// ---- Dropping. Every read and write drops what the store has reached meanwhile.

void OwnWrites::noteWhetherAny() {
  if (!latest_.empty() || everUnknown_) ever_.store(true, std::memory_order_release);
  any_.store(
      written_.size() != 0 || removed_.size() != 0 || !lost_.empty() || unknown_ || incomparable_,
      std::memory_order_release);
}

bool OwnWrites::isRemoved(const Object& object) const {
  return removed_.size() != 0 && removed_.peek(type_.uidOf(object.get())) != nullptr;
}

// Drops entries, and returns whether the store is behind. Reads versions of the store before its
// objects, so these are at least as new.
bool OwnWrites::behind(const UntypedStore& store, std::string_view namespaceName) {
  stampRead_ = store.versions().stamp();
  if (of_ != store.sharedVersions()) {
    if (of_ != nullptr) startAgain();
    of_ = store.sharedVersions();
    changes_ = of_->changes();
  }
  noteChanges(*of_);
  dropWritten(store);
  dropRemoved(store);
  if (has(store.resourceVersion(), lost_)) lost_ = String();
  noteWhetherAny();
  stamp_.store(stampRead_, std::memory_order_release);  // after any_
  if (unknown_ || incomparable_) return true;
  if (!lost_.empty() && !has(reachedIn(*of_, namespaceName), lost_)) return true;
  return !forgets_ && !of_->know(namespaceName);
}

// Returns whether the store's objects that were read since behind() are those of the same
// namespaces: the objects of one that is removed leave the store.
bool OwnWrites::isSame(const UntypedStore& store) const {
  return forgets_ || store.versions().stamp() == stampRead_;
}

// A list may be older than all that were there before.
void OwnWrites::startAgain() {
  if (!latest_.empty()) lose(latest_);
  if (everUnknown_) loseUnknown();
}

void OwnWrites::noteChanges(const StoreVersions& versions) {
  const StoreVersions::Changes changes = versions.changes();
  if (changes.back != changes_.back) {
    // A server with another history, restored from a backup: all versions from before mean nothing,
    // and deleted objects may be back.
    written_.clear();
    removed_.clear();
    lost_ = latest_ = String();
    loseUnknown();
    everUnknown_ = false;
  } else if (changes.added != changes_.added) {
    startAgain();
  }
  changes_ = changes;
}

void OwnWrites::noteLatest(const String& version) {
  if (latest_.empty() || has(version, latest_)) latest_ = version;
}

// An entry of a namespace that is behind may keep younger ones of others, which reads ignore.
void OwnWrites::dropWritten(const UntypedStore& store) {
  while (const auto* oldest = written_.oldest()) {
    const ObjectKey& key = oldest->first;
    const String version = versionOf(oldest->second.object);
    String reached = reachedIn(store.versions(), key.namespace_);
    if (reached.empty() && store.versions().cover(key.namespace_)) {
      // A store without versions shows at least those of its objects.
      const Object shown = store.find({key.namespace_, key.name});
      if (shown != nullptr) reached = versionOf(shown);
    }
    if (!has(reached, version)) {
      if (clock_.now() < oldest->second.expires) return;
      lose(version);
    }
    written_.erase(ObjectKey(key));
  }
}

void OwnWrites::dropRemoved(const UntypedStore& store) {
  while (const auto* oldest = removed_.oldest()) {
    const auto& [uid, entry] = *oldest;
    const String reached = reachedIn(store.versions(), entry.key.namespace_);
    const Object shown = store.find({entry.key.namespace_, entry.key.name});
    const bool visible = shown != nullptr && type_.uidOf(shown.get()) == uid;
    // Gone from a store that has reached a version at which it was there.
    if (visible || !has(reached, entry.version) || !isSame(store)) {
      if (clock_.now() < entry.expires) return;
      loseUnknown();
    }
    removed_.erase(String(uid));
  }
}

// ---- Reading.

OwnWrites::Read OwnWrites::find(const UntypedStore& store, KeyView key) {
  const Lock lock(entriesMutex_);
  if (behind(store, key.namespace_)) return {.behind = true};
  const String reached = reachedIn(*of_, key.namespace_);
  Object newest = store.find(key);
  const Written* const own = written_.peek({String(key.namespace_), String(key.name)});
  if (own != nullptr && !has(reached, versionOf(own->object)) &&
      (newest == nullptr || !has(versionOf(newest), versionOf(own->object)))) {
    newest = own->object;
  }
  if (!isSame(store)) return {.behind = true};
  // The other one, if there is any, was removed before, or is the same object.
  if (newest != nullptr && isRemoved(newest)) newest = nullptr;
  return {.object = std::move(newest)};
}

std::optional<std::vector<OwnWrites::Object>> OwnWrites::list(const UntypedStore& store,
                                                              const Which& which) {
  // The own writes that the store does not show yet.
  std::unordered_map<ObjectKey, Object, KeyHash> own;
  std::vector<Object> objects;
  {
    // With the lock until the end: another reader might drop entries when the store has reached
    // them, and this list may be older.
    const Lock lock(entriesMutex_);
    if (behind(store, which.namespace_)) return std::nullopt;
    for (const auto& [key, written] : written_) {
      if (!which.namespace_.empty() && key.namespace_ != which.namespace_) continue;
      if (isRemoved(written.object)) continue;
      if (has(reachedIn(*of_, key.namespace_), versionOf(written.object))) continue;
      const Object shown = store.find({key.namespace_, key.name});
      if (shown != nullptr && has(versionOf(shown), versionOf(written.object))) continue;
      own.emplace(key, written.object);
    }
    objects = listOf<void>(store, which);
    if (!isSame(store)) return std::nullopt;
    std::erase_if(objects, [&](const Object& object) KUBE_REQUIRES(entriesMutex_) {
      if (isRemoved(object)) return true;
      if (own.empty()) return false;
      const auto found = own.find(type_.keyOf(object.get()));
      if (found == own.end()) return false;
      if (!has(versionOf(object), versionOf(found->second))) return true;
      own.erase(found);  // the object has arrived meanwhile
      return false;
    });
  }
  for (auto& [key, object] : own) {
    if (!type_.selects(which.selector, object.get())) continue;
    if (!which.index.empty() && !store.hasIndexValue(which.index, which.value, object.get())) {
      continue;
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

}  // namespace kube::detail
