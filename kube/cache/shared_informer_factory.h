// An informer for every kind that a program asks for, one of each, all run together.
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
// All requests for a kind return the same informer. Informers that are asked for after start() need
// another.
//
// This header only declares the accessors of group-versions: where a compiler says that
// AppsV1Informers is an incomplete type, include kube/cache/apps/v1.h. kube/kube.h has those that
// are stable.
//
// Thread safety: see InformerFactory.
#pragma once

#include <concepts>
#include <functional>
#include <map>
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

  /// Of a described kind, built in or one's own.
  template <NamedObject T>
  SharedInformer<T> informerFor() const {
    return detail::InformerAccess::handleOf<T>(obtainOf(detail::kInformedType<T>, {}, Match::Any));
  }
  /// Of those objects that the selectors fit; who is the first to ask for a kind decides.
  template <NamedObject T>
  SharedInformer<T> informerFor(const metav1::ListOptions& which) const {
    return detail::InformerAccess::handleOf<T>(
        obtainOf(detail::kInformedType<T>, which, Match::SameSelection));
  }
  /// The same of a source of one's own: `make` is called where there is no informer of the kind.
  /// (No std::function: clang 14 then takes {.labelSelector = ...} for one, and fails.)
  template <NamedObject T, std::invocable Make>
  SharedInformer<T> informerFor(const Make& make) const {
    return detail::InformerAccess::handleOf<T>(
        obtainOf(TypeOf<T>::info, [&] { return detail::InformerAccess::coreOf<T>(make()); }));
  }

  /// Of any resource by its name, known to the program or not. It is another than that of the
  /// resource's C++ type, if there is one.
  SharedInformer<Unstructured> forResource(const GroupVersionResource& gvr) const;

  /// How often handlers of one kind are told of everything anew. For informers that nobody has
  /// asked for yet.
  template <NamedObject T>
  void setResync(Clock::Duration period) {
    setResync(TypeOf<T>::info, period);
  }

 private:
  Core obtainOf(const detail::InformedType& type, const metav1::ListOptions& which,
                Match match) const;
  Core obtainOf(const TypeInfo& type, const std::function<Core()>& make) const;
  void setResync(const TypeInfo& type, Clock::Duration period);
  static std::string nameOf(const ResourceName& resource);
  Clock::Duration resyncOf(const TypeInfo& type) const;

  const RestClient rest_;
  mutable detail::Mutex resyncMutex_;
  std::map<const TypeInfo*, Clock::Duration> resync_ KUBE_GUARDED_BY(resyncMutex_);
};

}  // namespace kube
