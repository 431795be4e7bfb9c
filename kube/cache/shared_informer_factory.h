// One informer for each kind that a program requests, all run together.
//
//   #include "kube/cache/core/v1.h"                    // each group-version that one uses
//
//   kube::SharedInformerFactory factory(clients, {.resync = 30s});
//   auto pods = factory.coreV1().pods();
//   auto networks = factory.informerFor<samplev1::Network>();
//   auto others = factory.forResource({"samplecrd.k8s.io", "v1", "others"});       // Unstructured
//   pods.addHandler({.onAdd = [](auto pod) { ... }});
//   factory.start(stop);
//   factory.waitForSync(stop);
//   auto web = pods.lister().inNamespace("book").get("web-1");
//
// All requests for a kind return the same informer, unless they name selectors. Informers that are
// requested after start() need another start().
//
// This header only declares the accessors of group-versions: if a compiler reports that
// AppsV1Informers is an incomplete type, include kube/cache/apps/v1.h. kube/kube.h includes all
// that are stable.
//
// Thread safety: see InformerFactory.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kube/base/internal/mutex.h"
#include "kube/cache/informer_factory.h"
#include "kube/cache/informer_groups.h"
#include "kube/client/clientset.h"
#include "kube/meta/gvk.h"
#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/unstructured.h"

namespace kube {

class CachedClient;

class SharedInformerFactory : public InformerFactory, public detail::InformerGroups {
 public:
  explicit SharedInformerFactory(const Clientset& clients, InformerFactoryOptions options = {});
  explicit SharedInformerFactory(RestClient rest, InformerFactoryOptions options = {});
  ~SharedInformerFactory();

  /// The informer of a described kind, built in or defined by the program, with the options of the
  /// kind.
  template <NamedObject T>
  SharedInformer<T> informerFor() const {
    return detail::InformerAccess::handleOf<T>(obtainOf(detail::kInformedType<T>));
  }
  /// The informer of the objects that the selectors of `which` select, in these namespaces or in
  /// those of the kind's options. Each selection has an informer of its own; the same selection has
  /// the same.
  template <NamedObject T>
  SharedInformer<T> informerFor(const metav1::ListOptions& which,
                                const std::optional<Strings>& namespaces = {}) const {
    return detail::InformerAccess::handleOf<T>(
        obtainOf(detail::kInformedType<T>, which, namespaces));
  }
  /// The same informers for counted users, see InformerUse.
  template <NamedObject T>
  InformerUse<T> use() const {
    return useOf<T>(obtainOf(detail::kInformedType<T>, {}, {}, true));
  }
  template <NamedObject T>
  InformerUse<T> use(const metav1::ListOptions& which,
                     const std::optional<Strings>& namespaces = {}) const {
    return useOf<T>(obtainOf(detail::kInformedType<T>, which, namespaces, true));
  }
  /// The informer of the kind; if there is none, `make` makes it. (`make` is no std::function:
  /// clang 14 then takes {.labelSelector = ...} for one, and fails.)
  template <NamedObject T, std::invocable Make>
  SharedInformer<T> informerFor(const Make& make) const {
    return detail::InformerAccess::handleOf<T>(
        obtain(TypeOf<T>::info, ResourceName::of(TypeOf<T>::info),
               [&] { return detail::InformerAccess::coreOf<T>(make()); }));
  }

  /// The informer of any resource by its name. It is not the informer of the resource's C++ type,
  /// if there is one.
  SharedInformer<Unstructured> forResource(const GroupVersionResource& gvr) const;
  /// The informer of a selection, as of informerFor().
  SharedInformer<Unstructured> forResource(const GroupVersionResource& gvr,
                                           const metav1::ListOptions& which,
                                           const std::optional<Strings>& namespaces = {}) const;
  InformerUse<Unstructured> use(const GroupVersionResource& gvr) const;

  /// The informer of the metadata of a resource: names, labels, annotations and owners. It takes a
  /// fraction of the memory of whole objects.
  SharedInformer<metav1::PartialObjectMetadata> metadataOf(const GroupVersionResource& gvr) const;
  template <NamedObject T>
  SharedInformer<metav1::PartialObjectMetadata> metadataOf() const {
    const ResourceInfo& resource = *TypeOf<T>::info.resource;
    return metadataOf({resource.group, resource.version, resource.plural},
                      resource.namespaced ? RestScope::Namespace : RestScope::Root);
  }

  /// The informer of the kind, or of the resource, if one was requested before.
  template <NamedObject T>
  std::optional<SharedInformer<T>> findInformer() const {
    return handleOf<T>(found(TypeOf<T>::info, ResourceName::of(TypeOf<T>::info)));
  }
  std::optional<SharedInformer<Unstructured>> findResource(const GroupVersionResource& gvr) const;

  /// Sets how often handlers of one kind receive all objects anew. Affects informers that are
  /// requested later.
  template <NamedObject T>
  void setResync(Clock::Duration period) {
    setResync(TypeOf<T>::info, period);
  }

  using InformerFactory::options;
  const RestClient& rest() const noexcept { return rest_; }

 private:
  Core obtainOf(const detail::InformedType& type, std::optional<metav1::ListOptions> which = {},
                const std::optional<Strings>& namespaces = {}, bool counted = false) const;
  SharedInformer<metav1::PartialObjectMetadata> metadataOf(const GroupVersionResource& gvr,
                                                           RestScope scope) const;
  void setResync(const TypeInfo& type, Clock::Duration period);
  std::optional<Clock::Duration> resyncOf(const TypeInfo& type) const;
  detail::InformerRequest requestOf(const detail::InformedType& type,
                                    std::optional<metav1::ListOptions> which = {},
                                    const std::optional<Strings>& namespaces = {},
                                    bool counted = false) const;
  template <Cacheable T>
  static std::optional<SharedInformer<T>> handleOf(Core core) {
    if (core == nullptr) return std::nullopt;
    return detail::InformerAccess::handleOf<T>(std::move(core));
  }

  friend class CachedClient;
  detail::InformerSet::Covering covering(const detail::InformedType& type,
                                         std::string_view namespaceName, bool make) const;
  detail::InformerSet::Covering covering(const RestMapping& mapping, std::string_view namespaceName,
                                         bool make) const;

  const RestClient rest_;
  mutable detail::Mutex resyncMutex_;
  std::map<const TypeInfo*, Clock::Duration> resync_ KUBE_GUARDED_BY(resyncMutex_);
};

}  // namespace kube
