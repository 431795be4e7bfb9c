#include "kube/apiserver/storage/storage.h"

#include <algorithm>
#include <iterator>

#include "kube/codec/stream_encode.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/object_key.h"
#include "kube/meta/unstructured.h"

namespace kube::apiserver {

namespace {

// The number of changes that keep their encoded frames. A watcher that is further behind has its
// frames encoded again, which costs time but no memory.
constexpr std::size_t kWarm = 512;

}  // namespace

metav1::ObjectMeta metaOf(const AnyObject& object) {
  if (const auto* meta = object.objectMeta()) return *meta;
  const auto* dynamic = object.as<Unstructured>();
  if (dynamic == nullptr || !dynamic->object["metadata"].isObject()) return {};
  return fromUnstructured<metav1::ObjectMeta>(Unstructured(dynamic->object["metadata"]));
}

void setMeta(AnyObject& object, metav1::ObjectMeta meta) {
  if (auto* place = object.objectMeta()) {
    *place = std::move(meta);
  } else if (auto* dynamic = object.as<Unstructured>()) {
    dynamic->object["metadata"] = toUnstructured(meta).object;
  }
}

StoredObject::StoredObject(AnyObject object, std::int64_t revision)
    : object_(std::move(object)), revision_(revision) {
  if (object_.objectMeta() == nullptr) {
    own_ = std::make_unique<const metav1::ObjectMeta>(metaOf(object_));
  }
}

std::size_t StoredObject::protobufSize() const {
  std::size_t size = protobufSize_.load(std::memory_order_relaxed);
  if (size != 0) return size;
  size = kube::protobufSize(object_);
  protobufSize_.store(size, std::memory_order_relaxed);
  return size;
}

String Change::frame(const std::string& form, const std::function<std::string()>& encode) const {
  std::shared_ptr<Frame> frame;
  {
    const detail::Lock lock(framesMutex_);
    for (const auto& known : frames_) {
      if (known->form == form) frame = known;
    }
    if (!frame && !old_) frame = frames_.emplace_back(std::make_shared<Frame>(form));
  }
  if (!frame) return String(encode());
  const detail::Lock lock(frame->bytesMutex);
  if (!frame->bytes) frame->bytes = String(encode());
  return *frame->bytes;
}

void Change::forgetFrames() const {
  const detail::Lock lock(framesMutex_);
  frames_ = {};
  old_ = true;
}

std::shared_ptr<Collection> Storage::add(std::string name) {
  const detail::Lock lock(contentsMutex_);
  return collections_.emplace_back(std::make_shared<Collection>(std::move(name)));
}

void Storage::remove(const Collection& collection) {
  std::shared_ptr<Collection> removed;  // destroyed after the lock
  std::vector<std::function<void()>> wake;
  {
    const detail::Lock lock(contentsMutex_);
    const auto it = std::find_if(collections_.begin(), collections_.end(),
                                 [&](const auto& one) { return one.get() == &collection; });
    if (it == collections_.end()) return;
    removed = std::move(*it);
    collections_.erase(it);
    Collection::Contents& contents = in(*removed);
    contents.removed = true;
    for (const auto& [id, function] : contents.watchers) wake.push_back(function);
  }
  for (const auto& function : wake) function();
}

std::int64_t Storage::revision() const {
  const detail::Lock lock(contentsMutex_);
  return revision_;
}

ObjectPtr Storage::get(const Collection& collection, std::string_view key) const {
  const detail::Lock lock(contentsMutex_);
  const auto& entries = in(collection).entries;
  const auto it = entries.find(key);
  return it == entries.end() ? nullptr : it->second.live;
}

std::size_t Storage::count(const Collection& collection) const {
  const detail::Lock lock(contentsMutex_);
  return in(collection).live;
}

std::int64_t Storage::compacted(const Collection& collection) const {
  const detail::Lock lock(contentsMutex_);
  return in(collection).compacted;
}

Page Storage::list(const Collection& collection, const ListRange& range) const {
  // With a selector, take all of the range, and filter it without the lock.
  Page page = range.matches ? pick(collection, range, 0) : pick(collection, range, range.limit);
  if (!range.matches) return page;
  std::vector<ObjectPtr> all = std::exchange(page.objects, {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (range.limit != 0 && page.objects.size() == range.limit) {
      page.remaining = all.size() - i;
      page.last = keyOf(page.objects.back()->meta()).str();
      break;
    }
    if (!range.matches(*all[i])) continue;
    page.objects.push_back(std::move(all[i]));
  }
  return page;
}

// The objects of a range, without asking `matches`.
Page Storage::pick(const Collection& collection, const ListRange& range, std::size_t limit) const {
  const detail::Lock lock(contentsMutex_);
  const Collection::Contents& contents = in(collection);
  Page page;
  const std::int64_t at = range.revision == 0 ? revision_ : range.revision;
  if (at < contents.compacted) return page;
  page.revision = at;
  const auto valid = [&](const Collection::Entry& entry) -> const ObjectPtr* {
    if (entry.live && entry.live->revision() <= at) return &entry.live;
    for (const auto& past : entry.past) {
      if (past.object->revision() <= at && at < past.until) return &past.object;
    }
    return nullptr;
  };
  auto it = range.after.empty() ? contents.entries.lower_bound(range.prefix)
                                : contents.entries.upper_bound(range.after);
  if (limit == 0 && range.prefix.empty()) page.objects.reserve(contents.live);
  const std::string* last = nullptr;
  for (; it != contents.entries.end() && it->first.starts_with(range.prefix); ++it) {
    const ObjectPtr* object = valid(it->second);
    if (object == nullptr) continue;
    if (limit != 0 && page.objects.size() == limit) {
      ++page.remaining;
      continue;
    }
    last = &it->first;
    page.objects.push_back(*object);
  }
  if (page.remaining != 0) page.last = *last;
  return page;
}

Changes Storage::changes(const Collection& collection, std::int64_t after,
                         std::size_t limit) const {
  const detail::Lock lock(contentsMutex_);
  const Collection::Contents& contents = in(collection);
  Changes result;
  if (after < contents.trimmed) {
    result.gone = true;
    return result;
  }
  auto it = std::upper_bound(
      contents.log.begin(), contents.log.end(), after,
      [](std::int64_t revision, const ChangePtr& change) { return revision < change->revision; });
  const auto left = static_cast<std::size_t>(std::distance(it, contents.log.end()));
  const std::size_t count = std::min(limit, left);
  result.changes.assign(it, it + static_cast<std::ptrdiff_t>(count));
  result.revision = count == left ? std::max(revision_, after)
                    : count == 0  ? after
                                  : result.changes.back()->revision;
  result.over = contents.removed && count == left;
  return result;
}

ObjectPtr Storage::commit(Collection& collection, const std::string& key, const ObjectPtr& expected,
                          AnyObject next, bool deleted) {
  std::vector<std::function<void()>> wake;
  ObjectPtr stored;
  {
    const detail::Lock lock(contentsMutex_);
    Collection::Contents& contents = in(collection);
    auto it = contents.entries.find(key);
    const ObjectPtr live = it == contents.entries.end() ? nullptr : it->second.live;
    if (live != expected) return nullptr;
    const std::int64_t revision = ++revision_;
    metav1::ObjectMeta meta = metaOf(next);
    meta.resourceVersion = std::to_string(revision);
    setMeta(next, std::move(meta));
    stored = std::make_shared<const StoredObject>(std::move(next), revision);
    if (it == contents.entries.end()) it = contents.entries.try_emplace(key).first;
    Collection::Entry& entry = it->second;
    if (live) entry.past.push_back({live, revision});
    entry.live = deleted ? nullptr : stored;
    contents.live += deleted ? -1 : live ? 0 : 1;
    auto change = std::make_shared<const Change>(revision, live, stored, deleted);
    if (onChange_) onChange_(collection, change);
    contents.log.push_back(std::move(change));
    if (contents.log.size() > kWarm) {
      contents.log[contents.log.size() - kWarm - 1]->forgetFrames();
    }
    if (contents.log.size() > window_) trim(contents, window_);
    wake.reserve(contents.watchers.size());
    for (const auto& [id, function] : contents.watchers) wake.push_back(function);
  }
  for (const auto& function : wake) function();
  return stored;
}

// Dropping a change also drops the object versions that only it kept visible.
void Storage::trim(Collection::Contents& contents, std::size_t keep) {
  while (contents.log.size() > keep) {
    const ChangePtr change = std::move(contents.log.front());
    contents.log.pop_front();
    contents.compacted = std::max(contents.compacted, change->revision);
    contents.trimmed = change->revision;
    if (!change->before) continue;
    const auto it = contents.entries.find(keyOf(change->before->meta()).str());
    if (it == contents.entries.end()) continue;
    std::erase_if(it->second.past,
                  [&](const Collection::Past& past) { return past.until <= change->revision; });
    if (!it->second.live && it->second.past.empty()) contents.entries.erase(it);
  }
}

void Storage::compact(Collection& collection) {
  const detail::Lock lock(contentsMutex_);
  Collection::Contents& contents = in(collection);
  trim(contents, 0);
  contents.compacted = revision_;
}

void Storage::compactAll() {
  const detail::Lock lock(contentsMutex_);
  for (const auto& collection : collections_) {
    Collection::Contents& contents = in(*collection);
    trim(contents, 0);
    contents.compacted = revision_;
  }
}

void Storage::rewindRevision(std::int64_t to) {
  const detail::Lock lock(contentsMutex_);
  for (const auto& collection : collections_) trim(in(*collection), 0);
  revision_ = to;
  for (const auto& collection : collections_) {
    Collection::Contents& contents = in(*collection);
    contents.compacted = to;
    contents.trimmed = to;
    for (auto& [key, entry] : contents.entries) {
      if (!entry.live) continue;
      // Every object was written at some revision of the new history.
      AnyObject object = entry.live->object();
      metav1::ObjectMeta meta = metaOf(object);
      meta.resourceVersion = std::to_string(to);
      setMeta(object, std::move(meta));
      entry.live = std::make_shared<const StoredObject>(std::move(object), to);
    }
  }
}

std::uint64_t Storage::watch(Collection& collection, std::function<void()> wake) {
  const detail::Lock lock(contentsMutex_);
  in(collection).watchers.emplace(nextWatcher_, std::move(wake));
  return nextWatcher_++;
}

void Storage::unwatch(Collection& collection, std::uint64_t id) {
  const detail::Lock lock(contentsMutex_);
  in(collection).watchers.erase(id);
}

void Storage::onChange(std::function<void(Collection&, const ChangePtr&)> function) {
  const detail::Lock lock(contentsMutex_);
  onChange_ = std::move(function);
}

}  // namespace kube::apiserver
