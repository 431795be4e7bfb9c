#include "kube/cache/cached_client.h"

#include <map>
#include <unordered_map>

#include "kube/base/internal/mutex.h"

namespace kube {

namespace {

GroupVersionKind kindNamed(const TypeInfo& type) {
  if (type.resource == nullptr) return {};
  return {type.resource->group, type.resource->version, type.resource->kind};
}

}  // namespace

// The kinds that were asked for; all copies of a client share them.
class CachedClient::Kinds {
 public:
  Kinds(SharedInformerFactory& factory, CachedClientOptions options)
      : factory_(factory), options_(std::move(options)) {}

  SharedInformerFactory& factory() const noexcept { return factory_; }

  Kind typed(const detail::ObjectType& type, Obtain obtain) {
    const detail::Lock lock(kindsMutex_);
    Kind& kind = typed_[&type.info];
    if (kind == nullptr) kind = make(kindNamed(type.info), type, std::move(obtain));
    return kind;
  }
  Kind dynamic(const RestMapping& mapping) {
    const detail::Lock lock(kindsMutex_);
    Kind& kind = dynamic_[mapping.gvr];
    if (kind != nullptr) return kind;
    const auto obtain = [&from = factory_, mapping](std::string_view namespaceName, bool make) {
      return from.covering(mapping, namespaceName, make);
    };
    return kind = make(mapping.gvk, detail::kObjectType<Unstructured>, obtain);
  }

 private:
  Kind make(const GroupVersionKind& gvk, const detail::ObjectType& type, Obtain obtain) const {
    const auto own = options_.kinds.find(gvk);
    const ReadPolicy policy = own != options_.kinds.end() ? own->second : options_.reads;
    return std::make_shared<detail::CachedKind>(factory_, type, policy, options_,
                                                std::move(obtain));
  }

  SharedInformerFactory& factory_;
  const CachedClientOptions options_;
  detail::Mutex kindsMutex_;
  std::unordered_map<const TypeInfo*, Kind> typed_ KUBE_GUARDED_BY(kindsMutex_);
  std::map<GroupVersionResource, Kind> dynamic_ KUBE_GUARDED_BY(kindsMutex_);
};

CachedClient::CachedClient(const Clientset& clients, SharedInformerFactory& factory,
                           CachedClientOptions options)
    : CachedClient(clients.rest(), std::make_shared<Kinds>(factory, std::move(options))) {}

CachedResourceClient<Unstructured> CachedClient::resource(const RestMapping& mapping) const {
  return CachedResourceClient<Unstructured>(kinds_->dynamic(mapping),
                                            DynamicClient(rest_).resource(mapping));
}

CachedClient::Kind CachedClient::kindOf(const detail::ObjectType& type, Obtain obtain) const {
  return kinds_->typed(type, std::move(obtain));
}

SharedInformerFactory& CachedClient::factory() const noexcept { return kinds_->factory(); }

}  // namespace kube
