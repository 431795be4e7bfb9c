#include "kube/cache/internal/informer_part.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"
#include "kube/cache/internal/reflector_loop.h"
#include "kube/cache/store.h"

namespace kube::detail {

namespace {

void checkBrought(const InformerPart::Object& object) {
  if (object == nullptr) throw Error("informer: the source has brought an object that is null");
}

}  // namespace

InformerPart::InformerPart(InformerCache& cache, std::unique_ptr<ObjectSource> source,
                           std::optional<String> namespaceName)
    : cache_(cache),
      source_(std::move(source)),
      namespace_(std::move(namespaceName)),
      version_(namespace_ ? std::make_shared<StoreVersion>() : cache_.store()->versions().all()) {}
InformerPart::~InformerPart() = default;

void InformerPart::begin(ReflectorOptions options, UntypedTransform transform,
                         const std::stop_token& stop, std::function<void()> listed) {
  // The informer resyncs for all parts.
  options.resync = {};
  options.shouldResync = {};
  reflector_ = std::make_unique<ReflectorLoop>(cache_.type(), *source_,
                                               static_cast<ReflectorStore<void>&>(*this),
                                               std::move(options), std::move(transform));
  informersStop_ = stop;
  listed_ = std::move(listed);
}

Task<void> InformerPart::run() {
  // A stop of a part alone does not occur where there is only one.
  if (!namespace_) return reflector_->run();
  return withStop(reflector_->run(), stop_.get_token());
}

String InformerPart::lastVersion() const {
  return reflector_ != nullptr ? reflector_->lastSyncResourceVersion() : String();
}

ReflectorStats InformerPart::stats() const {
  return reflector_ != nullptr ? reflector_->stats() : ReflectorStats();
}

void InformerPart::update(Object object) {
  checkBrought(object);
  cache_.noteRunner();
  const Finally atTheEnd([this] { cache_.handlers()->callOthers(); });
  cache_.apply(std::move(object), inFirstList_);
  endOfList();
}

void InformerPart::remove(Object object) {
  checkBrought(object);
  cache_.noteRunner();
  const Finally atTheEnd([this] { cache_.handlers()->callOthers(); });
  const ObjectKey key = cache_.type().keyOf(object.get());
  cache_.drop(key, std::move(object), false);
  endOfList();
}

void InformerPart::replace(std::vector<Object> objects, const String& resourceVersion) {
  for (const Object& object : objects) checkBrought(object);
  cache_.noteRunner();
  const Finally atTheEnd([this] { cache_.handlers()->callOthers(); });
  std::vector<ObjectKey> missing = keysMissingIn(objects);
  std::size_t count = 0;
  for (Object& object : objects) {
    if (!goesOn(count)) return;
    cache_.apply(std::move(object), inFirstList_);
  }
  for (const ObjectKey& key : missing) {
    if (!goesOn(count)) return;
    cache_.drop(key, nullptr, true);
  }
  reached(resourceVersion);  // before the part counts as listed
  endOfList();
}

void InformerPart::reached(const String& resourceVersion) {
  // A list that a stop has interrupted is not complete.
  if (informersStop_.stop_requested() || stop_.stop_requested()) return;
  cache_.store()->versions().reached(version_, resourceVersion);
}

void InformerPart::clear() {
  cache_.noteRunner();
  const Finally atTheEnd([this] { cache_.handlers()->callOthers(); });
  std::size_t count = 0;
  for (const ObjectKey& key : keys()) {
    if (++count % InformerCache::kAtATime == 0) cache_.handlers()->callOthers();
    if (informersStop_.stop_requested()) return;
    cache_.drop(key, nullptr, true);
  }
}

// Called before each change of many.
bool InformerPart::goesOn(std::size_t& count) const {
  if (++count % InformerCache::kAtATime == 0) cache_.handlers()->callOthers();
  return !informersStop_.stop_requested() && !stop_.stop_requested();
}

std::vector<ObjectKey> InformerPart::keys() const {
  return namespace_ ? cache_.store()->indexKeys(kNamespaceIndex, *namespace_)
                    : cache_.store()->listKeys();
}

// The keys of the part in the store that no listed object has.
std::vector<ObjectKey> InformerPart::keysMissingIn(const std::vector<Object>& objects) const {
  std::vector<ObjectKey> missing = keys();
  if (missing.empty()) return missing;
  std::unordered_set<ObjectKey, KeyHash> listed;
  listed.reserve(objects.size());
  for (const Object& object : objects) listed.insert(cache_.type().keyOf(object.get()));
  std::erase_if(missing, [&](const ObjectKey& key) { return listed.contains(key); });
  return missing;
}

void InformerPart::endOfList() {
  if (std::exchange(inFirstList_, false)) listed_();
}

}  // namespace kube::detail
