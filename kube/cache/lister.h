// Reads from a cache as from a server, but costs no request and never fails.
//
//   kube::Lister<Pod> pods(store);                       // or informer.lister()
//   for (const auto& pod : pods.list(labels::Selector::parse("app=web"))) ...
//   if (auto pod = pods.inNamespace("book").get("web-1")) ...     // null where there is none
//   auto node = nodes.get("n1");                          // of a kind without namespaces
//
// Lists of a namespace use the store's index kNamespaceIndex. Without that index they go through
// all objects.
//
// Returned objects are shared with all other readers of the cache and cannot be changed. Copy an
// object to change it; a copy is cheap.
//
// Thread safety: a cheap, copyable handle; every method may be called from any thread.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/cache/store.h"

namespace kube {

/// Reads the objects of one namespace.
template <Cacheable T>
class NamespaceLister {
 public:
  using Object = std::shared_ptr<const T>;

  NamespaceLister(std::shared_ptr<const Store<T>> store, String namespaceName)
      : store_(std::move(store)), namespace_(std::move(namespaceName)) {}

  /// In no order.
  std::vector<Object> list(const labels::Selector& selector = {}) const {
    if (namespace_.empty()) return store_->list(selector);
    if (store_->hasIndex(kNamespaceIndex)) {
      return store_->byIndex(kNamespaceIndex, namespace_, selector);
    }
    std::vector<Object> all = store_->list(selector);
    std::erase_if(all,
                  [&](const Object& object) { return detail::namespaceOf(*object) != namespace_; });
    return all;
  }
  /// Null where there is none.
  Object get(std::string_view name) const { return store_->getByKey(namespace_, name); }

 private:
  std::shared_ptr<const Store<T>> store_;
  String namespace_;
};

template <Cacheable T>
class Lister {
 public:
  using Object = std::shared_ptr<const T>;

  explicit Lister(std::shared_ptr<const Store<T>> store) : store_(std::move(store)) {}

  /// The objects of all namespaces, in no order.
  std::vector<Object> list(const labels::Selector& selector = {}) const {
    return store_->list(selector);
  }
  /// An empty name means all namespaces.
  NamespaceLister<T> inNamespace(String name) const {
    return NamespaceLister<T>(store_, std::move(name));
  }
  /// The object of that name, for kinds without namespaces. Null if there is none.
  Object get(std::string_view name) const { return store_->getByKey({}, name); }
  Object get(const ObjectKey& key) const { return store_->getByKey(key); }

  const Store<T>& store() const noexcept { return *store_; }

 private:
  std::shared_ptr<const Store<T>> store_;
};

}  // namespace kube
