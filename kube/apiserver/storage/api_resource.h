// The resources of an API server, each in one or more versions, with the rules of their kinds and
// the collections of their objects.
//
// Built-in ones come from the tables of kube/api; custom ones come and go with their definitions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/apiserver/documents/served_resources.h"
#include "kube/apiserver/rules/kind_rules.h"
#include "kube/apiserver/storage/storage.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/string.h"
#include "kube/meta/any_object.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"

namespace kube::apiserver {

struct CustomVersion;

/// A resource in one version.
struct ApiVersion : ServedResource {
  std::shared_ptr<const KindRules> kindRules = {};   // never null in a ResourceTable
  std::shared_ptr<const CustomVersion> custom = {};  // null: built in

  const KindRules& rules() const noexcept { return *kindRules; }
  /// True if the status is changed through its subresource only.
  bool splitsStatus() const noexcept { return subresource("status") != nullptr; }
  const ServedSubresource* subresource(std::string_view name) const noexcept;
  bool has(std::string_view verb) const noexcept;
};

struct ApiResource {
  GroupResource name = {};
  String kind = {}, listKind = {};
  bool namespaced = false;
  std::vector<ApiVersion> versions = {};     // the preferred one first
  std::size_t storageVersion = 0;            // its index
  std::shared_ptr<Collection> objects = {};  // null: nothing is stored, as for reviews

  bool custom() const noexcept { return versions.front().custom != nullptr; }
  const ApiVersion* version(std::string_view version) const noexcept;
  const ApiVersion& stored() const { return versions[storageVersion]; }
  GroupVersionKind kindIn(const ApiVersion& version) const {
    return {name.group, version.version, kind};
  }

  /// The object in one of the versions. Throws ApiError if it has no form in that version.
  AnyObject convert(const AnyObject& object, const ApiVersion& to) const;
};
using ResourcePtr = std::shared_ptr<const ApiResource>;

/// All resources, by name. Thread safety: every method may be called from any thread.
class ResourceTable {
 public:
  /// Starts with the built-in resources.
  explicit ResourceTable(Storage& storage);

  ResourcePtr find(const GroupResource& name) const;
  /// Finds a resource by its kind, in any version.
  ResourcePtr findKind(const GroupKind& kind) const;
  std::vector<ResourcePtr> all() const;
  /// The resources as discovery shows them: one entry for each version.
  std::vector<ServedResource> served() const;
  bool hasGroup(std::string_view group) const;
  bool hasVersion(const GroupVersion& version) const;

  /// Adds or replaces a resource.
  void put(ApiResource resource);
  void remove(const GroupResource& name);
  /// A number that grows with every change.
  std::uint64_t generation() const;

 private:
  mutable detail::Mutex resourcesMutex_;
  std::map<GroupResource, ResourcePtr> resources_ KUBE_GUARDED_BY(resourcesMutex_);
  std::uint64_t generation_ KUBE_GUARDED_BY(resourcesMutex_) = 1;
};

}  // namespace kube::apiserver
