// The objects of one kind as a CachedClient reads them: from an informer's store with the client's
// own writes over it, or not at all. Without the objects' C++ type, so that it is compiled once.
//
// Every read returns none if the server has to be asked: by policy, because the informer does not
// run or has not synced in time, because its namespace is not covered, or because own writes are
// further ahead of the store than is kept.
//
// Thread safety: every method may be called from any thread. The factory outlives all calls that
// read; tasks use it only before they wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/task.h"
#include "kube/cache/cached_client_options.h"
#include "kube/cache/internal/informer_core.h"
#include "kube/cache/internal/informer_set.h"
#include "kube/cache/internal/own_writes.h"
#include "kube/cache/internal/read_mostly_mutex.h"
#include "kube/client/resource_client.h"

namespace kube {

class InformerFactory;

namespace detail {

class CachedKind {
 public:
  using Object = UntypedStore::Object;
  using Store = std::shared_ptr<const UntypedStore>;
  /// Returns the informer that has all objects of the kind in a namespace; in all if it is empty.
  /// If there is none, makes it, or returns null.
  using Obtain = std::function<InformerSet::Covering(std::string_view namespaceName, bool make)>;

  CachedKind(InformerFactory& factory, const ObjectType& type, ReadPolicy policy,
             const CachedClientOptions& options, Obtain obtain);

  // ---- Reading.

  /// The object; null if it does not exist.
  using Read = std::optional<Object>;
  template <class T>
  using ListOf = std::optional<std::vector<std::shared_ptr<const T>>>;

  /// Reads without waiting, and without a look at own writes: none if there are any.
  Read tryFind(const ResourceRequests& of, std::string_view name) const {
    return tryRead(of, [&](const UntypedStore& store) {
      return std::optional(store.find({of.namespaceName(), name}));
    });
  }
  template <class T>
  ListOf<T> tryList(const ResourceRequests& of, const Which& which) const {
    return tryRead(of,
                   [&](const UntypedStore& store) { return ListOf<T>(listOf<T>(store, which)); });
  }
  static Task<Read> find(std::shared_ptr<CachedKind> kind, ResourceRequests of, std::string name);
  /// `which` outlives the task.
  static Task<ListOf<void>> list(std::shared_ptr<CachedKind> kind, ResourceRequests of,
                                 const Which& which);
  /// Returns whether an object has a value in an index of the informer. Throws Error if there is no
  /// informer.
  bool hasIndexValue(const ResourceRequests& of, const Which& which, const void* object) const;

  // ---- Writing.

  /// Notes the answer to a write.
  void wrote(Object object);
  /// Notes a write to a subresource whose answer is another object, of this version.
  void wroteAt(const String& version);
  void wroteSomething();
  static Task<void> remove(std::shared_ptr<CachedKind> kind, ResourceRequests of, std::string name,
                           metav1::DeleteOptions options);

 private:
  // The objects of a namespace that is removed leave the store, maybe during the read.
  template <class Function>
  auto tryRead(const ResourceRequests& of, const Function& read) const
      -> decltype(read(std::declval<const UntypedStore&>())) {
    const Store store = currentIfAny();
    if (store == nullptr) return std::nullopt;
    const std::uint64_t stamp = store->versions().stamp();
    if (!isReadable(*store, of) || own_.matter(stamp)) return std::nullopt;
    auto result = read(*store);
    if (store->versions().stamp() != stamp) return std::nullopt;
    return result;
  }
  Store currentIfAny() const { return policy_ == ReadPolicy::Live ? nullptr : current(); }
  static bool isReadable(const UntypedStore& store, const ResourceRequests& of);
  Store current() const;
  Store current(std::string_view namespaceName) const;
  static Task<Store> ready(std::shared_ptr<CachedKind> kind, ResourceRequests of);
  static Task<void> askForVersion(std::shared_ptr<CachedKind> kind, ResourceRequests of);
  std::shared_ptr<InformerCore> obtain(const ResourceRequests& of);
  void noteRemoval(const ObjectKey& key, std::string_view answer);
  void noteGone(const ObjectKey& key, const Object& object);

  InformerFactory& factory_;
  const ObjectType& type_;
  const ReadPolicy policy_;
  const Clock::Duration syncPatience_;
  Clock& clock_;
  const Obtain obtain_;
  OwnWrites own_;
  std::atomic<bool> gaveUp_{false};  // the informer has not synced in time
  mutable ReadMostlyMutex storeMutex_;
  Store store_ KUBE_GUARDED_BY(storeMutex_);  // of the informer that has synced last
};

}  // namespace detail

}  // namespace kube
