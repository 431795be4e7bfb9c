// What an API server serves: its resources, each in one or more versions, and where their objects
// are kept.
//
// Built-in ones come from the tables of kube/api; custom ones come and go with their definitions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/apiserver/documents/served_resources.h"
#include "kube/apiserver/storage/storage.h"
#include "kube/base/string.h"
#include "kube/meta/any_object.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"

namespace kube::apiserver {

struct CustomVersion;

/// A resource in one version.
struct ApiVersion : ServedResource {
  std::shared_ptr<const CustomVersion> custom = {};  // null: built in

  const ServedSubresource* subresource(std::string_view name) const noexcept;
  bool has(std::string_view verb) const noexcept;
};

struct ApiResource {
  GroupResource name = {};
  String kind = {}, listKind = {};
  bool namespaced = false;
  std::vector<ApiVersion> versions = {};     // the preferred first
  std::size_t storageVersion = 0;            // its index
  std::shared_ptr<Collection> objects = {};  // null: nothing is kept, as of reviews

  bool custom() const noexcept { return versions.front().custom != nullptr; }
  const ApiVersion* version(std::string_view version) const noexcept;
  const ApiVersion& stored() const { return versions[storageVersion]; }
  GroupVersionKind kindIn(const ApiVersion& version) const {
    return {name.group, version.version, kind};
  }

  /// The object as it is in one of the versions. Throws ApiError where it has no such form.
  AnyObject convert(const AnyObject& object, const ApiVersion& to) const;
};
using ResourcePtr = std::shared_ptr<const ApiResource>;

/// All of them, by name. Thread safety: every method may be called from any thread.
class ResourceTable {
 public:
  /// With the built-in ones.
  explicit ResourceTable(Storage& storage);

  ResourcePtr find(const GroupResource& name) const;
  /// By kind, in any version.
  ResourcePtr findKind(const GroupKind& kind) const;
  std::vector<ResourcePtr> all() const;
  /// The same as discovery shows them: each version by itself.
  std::vector<ServedResource> served() const;
  /// Of one group, or all of it is unknown.
  bool hasGroup(std::string_view group) const;
  bool hasVersion(const GroupVersion& version) const;

  /// Adds or replaces.
  void put(ApiResource resource);
  void remove(const GroupResource& name);
  /// Counts up with every change.
  std::uint64_t generation() const;

 private:
  mutable std::mutex mutex_;
  std::map<GroupResource, ResourcePtr> resources_;
  std::uint64_t generation_ = 1;
};

}  // namespace kube::apiserver
