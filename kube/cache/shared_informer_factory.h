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
// All requests for a kind return the same informer. Informers that are requested after start() need
// another start().
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
#include "kube/meta/unstructured.h"

namespace kube {

class SharedInformerFactory : public InformerFactory, public detail::InformerGroups {
 public:
  explicit SharedInformerFactory(const Clientset& clients, InformerFactoryOptions options = {});
  explicit SharedInformerFactory(RestClient rest, InformerFactoryOptions options = {});
  ~SharedInformerFactory();

  /// The informer of a described kind, built in or defined by the program, whatever its selectors
  /// are.
  template <NamedObject T>
  SharedInformer<T> informerFor() const {
    return detail::InformerAccess::handleOf<T>(obtainOf(detail::kInformedType<T>, {}, Match::Any));
  }
  /// The informer of the objects that the selectors of `which` select. Throws Error if the factory
  /// already has an informer of the kind with other selectors; use another factory for those.
  template <NamedObject T>
  SharedInformer<T> informerFor(const metav1::ListOptions& which) const {
    return detail::InformerAccess::handleOf<T>(
        obtainOf(detail::kInformedType<T>, which, Match::SameSelection));
  }
  /// The informer of the kind; if there is none, `make` makes it. (`make` is no std::function:
  /// clang 14 then takes {.labelSelector = ...} for one, and fails.)
  template <NamedObject T, std::invocable Make>
  SharedInformer<T> informerFor(const Make& make) const {
    return detail::InformerAccess::handleOf<T>(
        obtainOf(TypeOf<T>::info, [&] { return detail::InformerAccess::coreOf<T>(make()); }));
  }

  /// The informer of any resource by its name. It is not the informer of the resource's C++ type,
  /// if there is one.
  SharedInformer<Unstructured> forResource(const GroupVersionResource& gvr) const;

  /// The informer of the kind, or of the resource, if one was requested before.
  template <NamedObject T>
  std::optional<SharedInformer<T>> findInformer() const {
    return handleOf<T>(found(nameOf(ResourceName::of(TypeOf<T>::info))));
  }
  std::optional<SharedInformer<Unstructured>> findResource(const GroupVersionResource& gvr) const {
    return handleOf<Unstructured>(found(dynamicNameOf(gvr)));
  }

  /// Sets how often handlers of one kind receive all objects anew. Affects informers that are
  /// requested later.
  template <NamedObject T>
  void setResync(Clock::Duration period) {
    setResync(TypeOf<T>::info, period);
  }

 private:
  Core obtainOf(const detail::InformedType& type, const metav1::ListOptions& which,
                Match match) const;
  Core obtainOf(const TypeInfo& type, const std::function<Core()>& make) const;
  void setResync(const TypeInfo& type, Clock::Duration period);
  template <Cacheable T>
  static std::optional<SharedInformer<T>> handleOf(Core core) {
    if (core == nullptr) return std::nullopt;
    return detail::InformerAccess::handleOf<T>(std::move(core));
  }
  static std::string nameOf(const ResourceName& resource);
  static std::string dynamicNameOf(const GroupVersionResource& gvr) {
    return "dynamic " + gvr.str();
  }
  Clock::Duration resyncOf(const TypeInfo& type) const;

  const RestClient rest_;
  mutable detail::Mutex resyncMutex_;
  std::map<const TypeInfo*, Clock::Duration> resync_ KUBE_GUARDED_BY(resyncMutex_);
};

}  // namespace kube
