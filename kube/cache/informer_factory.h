// The base of all informer factories: a factory holds one informer for each kind that it was asked
// for, and runs them.
//
//   factory.start(stop);             // those that do not run yet; may be called again
//   factory.waitForSync(stop);
//   ...
//   factory.shutdown();              // ends and joins them; the destructor does it too
//
// An informer that is requested after start() needs another start(): until then it does not run,
// and waiting for it throws Error.
//
// A kind may have more informers than one: each selection of its objects has its own, so no request
// for other selectors is ignored. Requests without selectors return the informer with the options
// of the kind (InformerFactoryOptions::kinds), whatever was requested before.
//
// Several namespaces have one informer, one store and one set of handlers, above a list and a watch
// for each namespace. Namespaces may be added and removed while it runs.
//
// remove() ends a single informer. Informers that are requested by use() end with their last user.
//
// Thread safety: every method may be called from any thread. Handlers must not call start();
// shutdown() throws if a handler calls it, because it would wait for that handler. If a handler
// destroys the factory, all informers end at once except the handler's own, which ends when the
// handler has returned.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/map.h"
#include "kube/base/string.h"
#include "kube/base/task.h"
#include "kube/cache/async_caches.h"
#include "kube/cache/informer_use.h"
#include "kube/cache/internal/informer_set.h"
#include "kube/cache/internal/object_source.h"
#include "kube/cache/kind_options.h"
#include "kube/cache/shared_informer.h"
#include "kube/cache/transform.h"
#include "kube/client/resource_client.h"
#include "kube/meta/v1.h"

namespace kube {

struct InformerFactoryOptions {
  /// How often handlers receive all objects anew, unless they set another period; 0: never.
  Clock::Duration resync = {};
  /// Empty: all namespaces.
  String namespace_ = {};
  /// Several namespaces instead of namespace_, which may be added and removed later:
  /// Strings{"a", "b"}. Strings{} is none for the time being. Kinds without namespaces are not
  /// affected.
  std::optional<Strings> namespaces = {};
  /// Changes the options of every list and watch, to narrow them down by selectors.
  std::function<void(metav1::ListOptions& options)> tweakListOptions = {};
  /// Changes the objects of every kind before a cache holds them, such as kube::stripManagedFields.
  CommonTransform transform = {};
  /// Options of single kinds, made by kube::byKind().
  std::vector<AnyKindOptions> kinds = {};
  /// All other options. Its `name` and `resync` are ignored.
  SharedInformerOptions informer = {};
};

namespace detail {

/// The properties of a type that a factory needs.
struct InformedType {
  const TypeInfo& info;
  MakeObject makeObject;
  std::unique_ptr<UntypedStore> (*makeStore)();
};

template <Cacheable T>
inline constexpr InformedType kInformedType = {TypeOf<T>::info, &makeObject<T>,
                                               &StoreAccess::make<T>};

/// A request for an informer.
struct InformerRequest {
  /// For a DynamicClient or a MetadataClient.
  template <class Client>
  static InformerRequest of(const Client& client, const GroupVersionResource& gvr,
                            std::optional<metav1::ListOptions> which = {},
                            const std::optional<Strings>& namespaces = {}, bool counted = false) {
    ResourceRequests requests = client.resource(gvr).requests();
    return {.type = kInformedType<typename Client::Object>,
            .resource = requests.resource(),
            .requests = [requests] { return requests; },
            .which = std::move(which),
            .namespaces = namespaces,
            .counted = counted};
  }

  const InformedType& type;
  ResourceName resource;
  /// The requests for the objects of all namespaces.
  std::function<ResourceRequests()> requests;
  /// Not set: the selectors of the kind's options.
  std::optional<metav1::ListOptions> which = {};
  /// Not set: the namespaces of the kind's options.
  std::optional<Strings> namespaces = {};
  bool counted = false;  // for InformerUse
};

}  // namespace detail

class InformerFactory {
 public:
  InformerFactory(const InformerFactory&) = delete;
  InformerFactory& operator=(const InformerFactory&) = delete;

  /// Runs every informer that does not run yet, until a stop is requested. All of them share the
  /// I/O thread of the client's caches; an informer with a source of its own has its own thread.
  /// Does nothing after shutdown(). Throws Error if no thread can be started; the informers started
  /// before it keep running.
  void start(const std::stop_token& stop = {}) { set_->start(stop); }
  /// Runs informers that were requested after start(), until the others are stopped.
  void startMore() const { set_->start({}); }
  /// Blocks until all informers have synced. Returns false if a stop is requested first, or a
  /// shutdown. Throws Error if an informer does not run because start() was not called after it was
  /// requested. Every few seconds, informers that have not synced are logged, with their last
  /// errors.
  bool waitForSync(const std::stop_token& stop = {}) const;
  /// The awaitable form of waitForSync(). The factory may end during the wait, but not before.
  AsyncCaches async() const;
  /// The informers that have not synced, each with its state and its last error: `pods: not synced
  /// yet; 3 errors, the last: ...`. For programs whose waitForSync() was stopped by a time limit.
  std::vector<std::string> notSynced() const { return set_->notSynced(); }
  /// Stops all informers, and returns when the last handler has returned, even if another caller
  /// started the shutdown. A handler that does not return is logged. Throws Error if a handler
  /// calls it.
  void shutdown() { set_->shutdown(); }

  /// Ends one informer, and returns when its last handler has returned. Its handles stay valid:
  /// they read the last state, and the objects are freed with the last of them. A later request
  /// makes a new informer. If a handler calls this, or a quick handler of another informer, the
  /// informer ends soon after that handler has returned. Does nothing if the factory does not have
  /// the informer any more.
  template <Cacheable T>
  void remove(const SharedInformer<T>& informer) {
    set_->remove(detail::InformerAccess::coreOf(informer));
  }

  // ---- Namespaces. All throw Error if InformerFactoryOptions::namespaces is not set.

  /// Adds a namespace to all informers, present and future, that have no namespaces of their own.
  /// They have synced again when its objects are in their caches.
  void addNamespace(const String& name) { set_->addNamespace(name); }
  /// Removes a namespace from them. Its objects leave the caches soon after: handlers receive
  /// deletions with `finalStateUnknown`.
  void removeNamespace(const String& name) { set_->removeNamespace(name); }
  /// None: the option is not set.
  std::optional<Strings> namespaces() const { return set_->namespaces(); }

  /// Returns whether start() has been called, and no stop or shutdown() requested.
  bool isRunning() const { return set_->isRunning(); }
  /// Returns whether the informers have the objects of a namespace; of all if it is empty. Kinds
  /// with namespaces of their own differ.
  bool covers(std::string_view namespaceName) const;

  /// One line of text for each informer.
  std::string describe() const { return set_->describe(); }

 protected:
  /// `holds`: whether the factory can have informers of objects of a type. Throws Error for options
  /// that contradict each other.
  InformerFactory(InformerFactoryOptions options, bool (*holds)(const TypeInfo& type));
  ~InformerFactory() { set_->end(); }

  const InformerFactoryOptions& options() const noexcept { return options_; }

  using Core = std::shared_ptr<detail::InformerCore>;

  /// Returns the informer of the selection, and makes it first if there is none. `resync`: the
  /// period if the program has set it for the kind.
  Core obtain(const detail::InformerRequest& request,
              std::optional<Clock::Duration> resync = {}) const;
  /// The informer of the kind; if there is none, `make` makes it.
  Core obtain(const TypeInfo& type, const ResourceName& resource,
              const std::function<Core()>& make) const;
  /// The informer of the kind; null if there is none.
  Core found(const TypeInfo& type, const ResourceName& resource) const;
  /// The informer that has all objects of the kind in a namespace; in all if it is empty. If there
  /// is none, makes that of the kind's options if it would have them.
  detail::InformerSet::Covering covering(const detail::InformerRequest& request,
                                         std::string_view namespaceName, bool make,
                                         std::optional<Clock::Duration> resync = {}) const;
  template <Cacheable T>
  InformerUse<T> useOf(Core informer) const {
    return InformerUse<T>(std::make_shared<detail::InformerUser>(set_, informer),
                          detail::InformerAccess::handleOf<T>(informer));
  }

 private:
  struct Selection;
  Selection select(const detail::InformerRequest& request) const;
  bool wouldCover(const detail::InformerRequest& request, std::string_view namespaceName) const;
  const AnyKindOptions* optionsOf(const TypeInfo& type, const ResourceName& resource) const;
  detail::InformerSet::Made make(const detail::InformerRequest& request,
                                 std::optional<Clock::Duration> resync,
                                 const std::optional<Strings>& factorysNamespaces) const;

  const InformerFactoryOptions options_;
  const std::shared_ptr<detail::InformerSet> set_;
};

}  // namespace kube
