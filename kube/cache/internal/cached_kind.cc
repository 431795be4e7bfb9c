#include "kube/cache/internal/cached_kind.h"

#include <fmt/core.h>

#include <utility>

#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/base/when.h"
#include "kube/cache/informer_factory.h"
#include "kube/cache/internal/client_source.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/api_error.h"
#include "kube/meta/unstructured.h"

namespace kube::detail {

namespace {

// True if an object that a write has returned does not exist any more: its last finalizer was
// removed, or it had no time left. Namespaces, which have other finalizers, name no time.
bool isOver(const metav1::ObjectMeta& meta) {
  return !meta.deletionTimestamp.isZero() && meta.finalizers.empty() &&
         meta.deletionGracePeriodSeconds == 0;
}
bool isOver(const Unstructured& object) {
  return !object.deletionTimestamp().isZero() && object.finalizers().empty() &&
         object.deletionGracePeriodSeconds() == 0;
}

// Objects without namespaces are all in one part.
std::string_view namespaceOf(const ResourceRequests& of) {
  return of.resource().scope == RestScope::Root ? std::string_view() : of.namespaceName().view();
}

}  // namespace

CachedKind::CachedKind(InformerFactory& factory, const ObjectType& type, ReadPolicy policy,
                       const CachedClientOptions& options, Obtain obtain)
    : factory_(factory),
      type_(type),
      policy_(policy),
      syncPatience_(options.syncPatience),
      clock_(orReal(options.clock)),
      obtain_(std::move(obtain)),
      own_(type, {.capacity = options.maxOwnWrites,
                  .patience = options.ownWritePatience,
                  .clock = options.clock}) {}

// ---- Reading.

// The store of the informer, if it has listed objects and runs.
CachedKind::Store CachedKind::current() const {
  const ReadLock lock(storeMutex_);
  return store_ != nullptr && !store_->versions().all()->ended() ? store_ : nullptr;
}

// The same, if it has all objects of a namespace.
CachedKind::Store CachedKind::current(std::string_view namespaceName) const {
  const ReadLock lock(storeMutex_);
  if (store_ == nullptr || store_->versions().all()->ended()) return nullptr;
  return store_->versions().know(namespaceName) ? store_ : nullptr;
}

bool CachedKind::isReadable(const UntypedStore& store, const ResourceRequests& of) {
  return store.versions().know(namespaceOf(of));
}

// The informer, if it runs.
std::shared_ptr<InformerCore> CachedKind::obtain(const ResourceRequests& of) {
  const auto [informer, any] = obtain_(namespaceOf(of), policy_ == ReadPolicy::Cached);
  if (informer == nullptr) {
    if (any != nullptr || policy_ == ReadPolicy::Cached)
      return nullptr;  // it does not have the objects
    throw Error(fmt::format(
        "{}: read from the cache: there is no informer of this kind: request it from the factory "
        "first, or choose another ReadPolicy",
        of.resource().plural));
  }
  if (!informer->hasStarted() && factory_.isRunning()) factory_.startMore();
  return informer->hasStarted() && !informer->isStopped() ? informer : nullptr;
}

Task<CachedKind::Store> CachedKind::ready(std::shared_ptr<CachedKind> kind, ResourceRequests of) {
  if (kind->policy_ == ReadPolicy::Live) co_return nullptr;
  const std::string_view namespaceName = namespaceOf(of);
  if (Store store = kind->current(namespaceName)) co_return store;
  const auto informer = kind->obtain(of);
  if (informer == nullptr) co_return nullptr;
  // Other namespaces may be missing.
  const auto has = [&] {
    return informer->hasSynced() ||
           (informer->namespaces() && informer->store()->versions().know(namespaceName));
  };
  if (!has()) {
    if (kind->gaveUp_) co_return nullptr;
    const bool synced =
        co_await within(kind->syncPatience_, InformerCore::waitForSync(informer), kind->clock_);
    if (!synced && !has()) {
      const std::stop_token stop = co_await taskStop();
      if (!stop.stop_requested() && !informer->isStopped() && !kind->gaveUp_.exchange(true)) {
        Logger("cached client")
            .warning("reads of {} ask the server: the informer has not synced yet: {}",
                     of.resource().plural, informer->describe());
      }
      co_return nullptr;
    }
  }
  kind->gaveUp_ = false;
  {
    const WriteLock lock(kind->storeMutex_);
    kind->store_ = informer->store();
  }
  co_return kind->current(namespaceName);
}

Task<void> CachedKind::askForVersion(std::shared_ptr<CachedKind> kind, ResourceRequests of) {
  const auto question = kind->own_.unknown();
  if (!question) co_return;
  try {
    const metav1::ListOptions latest;
    const String version = co_await currentVersion(of, latest);
    kind->own_.answer(*question, version);
  } catch (const Error& error) {
    Logger("cached client")
        .debug("the version of {} is not known: {}", of.resource().plural, error.what());
  }
}

Task<CachedKind::Read> CachedKind::find(std::shared_ptr<CachedKind> kind, ResourceRequests of,
                                        std::string name) {
  // The server says why this cannot be.
  if (of.resource().scope == RestScope::Namespace && of.namespaceName().empty()) {
    co_return std::nullopt;
  }
  const Store store = co_await ready(kind, of);
  if (store == nullptr) co_return std::nullopt;
  OwnWrites::Read read = kind->own_.find(*store, {of.namespaceName(), name});
  if (!read.behind) co_return std::move(read.object);
  co_await askForVersion(kind, of);
  co_return std::nullopt;
}

Task<CachedKind::ListOf<void>> CachedKind::list(std::shared_ptr<CachedKind> kind,
                                                ResourceRequests of, const Which& which) {
  const Store store = co_await ready(kind, of);
  if (store == nullptr) co_return std::nullopt;
  ListOf<void> all = kind->own_.list(*store, which);
  if (!all) co_await askForVersion(kind, of);
  co_return all;
}

bool CachedKind::hasIndexValue(const ResourceRequests& of, const Which& which,
                               const void* object) const {
  InformerSet::Covering found;
  if (policy_ != ReadPolicy::Live) found = obtain_(namespaceOf(of), false);
  const auto& informer = found.informer != nullptr ? found.informer : found.any;
  if (informer == nullptr) {
    throw Error(fmt::format("{}: index \"{}\": there is no informer of this kind, which has it",
                            of.resource().plural, which.index));
  }
  return informer->store()->hasIndexValue(which.index, which.value, object);
}

// ---- Writing.

void CachedKind::wrote(Object object) {
  if (policy_ == ReadPolicy::Live) return;
  const Store store = current();
  const bool over = type_.metadataOf != nullptr
                        ? isOver(type_.metadataOf(object.get()))
                        : isOver(*static_cast<const Unstructured*>(object.get()));
  if (over) return noteGone(type_.keyOf(object.get()), object);
  own_.wrote(std::move(object), store.get());
}

void CachedKind::noteGone(const ObjectKey& key, const Object& object) {
  own_.removed(key, type_.uidOf(object.get()), type_.resourceVersionOf(object.get()),
               current().get());
}

void CachedKind::wroteAt(const String& version) {
  if (policy_ != ReadPolicy::Live) own_.wroteAt(version);
}
void CachedKind::wroteSomething() {
  if (policy_ != ReadPolicy::Live) own_.wroteSomething();
}

Task<void> CachedKind::remove(std::shared_ptr<CachedKind> kind, ResourceRequests of,
                              std::string name, metav1::DeleteOptions options) {
  const bool noted = kind->policy_ != ReadPolicy::Live && options.dryRun.empty();
  const ObjectKey key{of.namespaceName(), String(name)};
  OwnWrites::Read before{.behind = true};
  if (const Store store = kind->current(); store != nullptr && noted) {
    before = kind->own_.find(*store, {key.namespace_, key.name});
  }
  Request request = of.remove(name);
  request.accept("application/json").body(options);
  std::string answer;
  try {
    answer = co_await std::move(request).async().raw();
  } catch (const ApiError& error) {
    // So the object that the cache shows is gone. An earlier try may have deleted it.
    if (noted && isNotFound(error)) {
      if (before.object != nullptr) kind->noteGone(key, before.object);
      if (before.behind) kind->own_.wroteSomething();
    }
    throw;
  }
  if (noted) kind->noteRemoval(key, answer);
}

// Servers answer with the object, or with a Status that has its uid.
void CachedKind::noteRemoval(const ObjectKey& key, std::string_view answer) {
  Unstructured last;
  try {
    last = fromJson<Unstructured>(answer);
  } catch (const DecodeError&) {
    return own_.wroteSomething();
  }
  if (last.kind() == "Status") {
    const String uid = last.object["details"]["uid"].asString();
    return own_.removed(key, uid, {}, current().get());
  }
  if (last.deletionTimestamp().isZero() || isOver(last)) {
    return own_.removed(key, last.uid(), last.resourceVersion(), current().get());
  }
  own_.wroteAt(last.resourceVersion());  // it stays for a while
}

}  // namespace kube::detail
