#include "kube/meta/scheme.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"

namespace kube {

namespace {

String kindName(const TypeInfo& type) {
  return type.resource != nullptr ? type.resource->kind : type.name;
}

// Returns the usual wording, "autoscaling/v1 HorizontalPodAutoscaler".
std::string inWords(const GroupVersionKind& gvk) {
  return fmt::format("{} {}", gvk.groupVersion().str(), gvk.kind);
}

bool isDynamic(const TypeInfo& type) noexcept { return &type == &TypeOf<Unstructured>::info; }

bool contains(const std::vector<GroupVersion>& versions, const GroupVersion& version) {
  return std::ranges::find(versions, version) != versions.end();
}

}  // namespace

NotRegisteredError::NotRegisteredError(const std::string& message, GroupVersionKind gvk,
                                       const TypeInfo* type)
    : Error(message), gvk_(std::move(gvk)), type_(type) {}
NotRegisteredError::~NotRegisteredError() = default;

bool isNotRegistered(const std::exception& error) noexcept {
  return dynamic_cast<const NotRegisteredError*>(&error) != nullptr;
}

std::string Scheme::inScheme() const {
  return name_.empty() ? std::string() : fmt::format(" in scheme \"{}\"", name_);
}

std::string Scheme::describe(const TypeInfo& type) const {
  if (type.resource != nullptr) {
    return inWords({type.resource->group, type.resource->version, type.resource->kind});
  }
  const auto found = kinds_.find(&type);
  return found != kinds_.end() ? inWords(found->second.front()) : std::string(type.name);
}

void Scheme::checkKind(const GroupVersionKind& gvk, const TypeInfo& type) const {
  if (gvk.version.empty() || gvk.kind.empty()) {
    throw Error(fmt::format("registering {}: a kind and a version are required, found \"{}\"",
                            type.name, gvk.str()));
  }
  const auto found = types_.find(gvk);
  if (found == types_.end() || found->second == &type) return;
  throw Error(fmt::format("double registration of different types for {}: old={}, new={}{}",
                          gvk.str(), describe(*found->second), describe(type), inScheme()));
}

void Scheme::observe(const GroupVersion& version) {
  if (version.version == kInternalVersion || contains(observed_, version)) return;
  observed_.push_back(version);
}

void Scheme::addKind(const GroupVersionKind& gvk, const TypeInfo& type) {
  observe(gvk.groupVersion());
  if (types_.emplace(gvk, &type).second) kinds_[&type].push_back(gvk);
}

void Scheme::addKnownTypeWithName(const GroupVersionKind& gvk, const TypeInfo& type) {
  checkKind(gvk, type);
  addKind(gvk, type);
}

void Scheme::addKnownTypes(const GroupVersion& version, std::span<const TypeInfo* const> types) {
  std::map<String, const TypeInfo*> fresh;  // two of the types may have one kind
  for (const TypeInfo* type : types) {
    const GroupVersionKind gvk = version.withKind(kindName(*type));
    checkKind(gvk, *type);
    const auto [at, isNew] = fresh.emplace(gvk.kind, type);
    if (!isNew && at->second != type) {
      throw Error(fmt::format("double registration of different types for {}: old={}, new={}{}",
                              gvk.str(), describe(*at->second), describe(*type), inScheme()));
    }
  }
  for (const TypeInfo* type : types) addKind(version.withKind(kindName(*type)), *type);
}

void Scheme::addUnversionedTypes(const GroupVersion& version,
                                 std::span<const TypeInfo* const> types) {
  for (const TypeInfo* type : types) {
    const String kind = kindName(*type);
    const auto found = unversionedKinds_.find(kind);
    if (found == unversionedKinds_.end() || found->second == type) continue;
    throw Error(fmt::format(
        "{} has already been registered as unversioned kind \"{}\", which must be unique{}; new={}",
        describe(*found->second), kind, inScheme(), describe(*type)));
  }
  addKnownTypes(version, types);
  for (const TypeInfo* type : types) {
    const GroupVersionKind gvk = version.withKind(kindName(*type));
    unversionedTypes_[type] = gvk;
    unversionedKinds_[gvk.kind] = type;
  }
}

std::map<String, const TypeInfo*> Scheme::knownTypes(const GroupVersion& version) const {
  std::map<String, const TypeInfo*> result;
  for (const auto& [gvk, type] : types_) {
    if (gvk.version == version.version && gvk.group == version.group) result[gvk.kind] = type;
  }
  return result;
}

const TypeInfo* Scheme::typeOf(const GroupVersionKind& gvk) const {
  if (const auto found = types_.find(gvk); found != types_.end()) return found->second;
  const auto found = unversionedKinds_.find(gvk.kind);
  return found != unversionedKinds_.end() ? found->second : nullptr;
}

AnyObject Scheme::newObject(const GroupVersionKind& gvk) const {
  const TypeInfo* type = typeOf(gvk);
  if (type == nullptr) {
    const std::string where = gvk.version == kInternalVersion
                                  ? fmt::format("the internal version of group \"{}\"", gvk.group)
                                  : fmt::format("version \"{}\"", gvk.groupVersion().str());
    throw NotRegisteredError(
        fmt::format("no kind \"{}\" is registered for {}{}", gvk.kind, where, inScheme()), gvk,
        nullptr);
  }
  AnyObject object(*type);
  object.setGvk(gvk);
  return object;
}

Scheme::ObjectKinds Scheme::objectKinds(const AnyObject& object) const {
  if (!isDynamic(object.type())) return objectKinds(object.type());
  GroupVersionKind gvk = object.gvk();
  if (gvk.kind.empty()) throw Error("an unstructured object has no kind");
  if (gvk.version.empty()) throw Error("an unstructured object has no apiVersion");
  return {{std::move(gvk)}, false};
}

Scheme::ObjectKinds Scheme::objectKinds(const TypeInfo& type) const {
  const auto found = kinds_.find(&type);
  if (found == kinds_.end()) {
    throw NotRegisteredError(
        fmt::format("no kind is registered for the type {}{}", describe(type), inScheme()), {},
        &type);
  }
  return {found->second, unversionedTypes_.contains(&type)};
}

void Scheme::setVersionPriority(std::span<const GroupVersion> versions) {
  if (versions.empty()) throw Error("version priority: no versions are given");
  std::vector<String> order;
  for (const GroupVersion& version : versions) {
    if (version.version.empty() || version.version == kInternalVersion) {
      throw Error(fmt::format("version priority: internal versions cannot be prioritized: {}",
                              version.str()));
    }
    if (version.group != versions[0].group) {
      throw Error(
          fmt::format("version priority: all versions must be of one group, found {} and {}",
                      versions[0].str(), version.str()));
    }
    order.push_back(version.version);
  }
  priorities_[versions[0].group] = std::move(order);
}

std::vector<GroupVersion> Scheme::prioritizedVersionsForGroup(std::string_view group) const {
  std::vector<GroupVersion> result;
  if (const auto found = priorities_.find(group); found != priorities_.end()) {
    for (const String& version : found->second) result.push_back({found->first, version});
  }
  for (const GroupVersion& version : observed_) {
    if (version.group == group && !contains(result, version)) result.push_back(version);
  }
  return result;
}

std::vector<GroupVersion> Scheme::prioritizedVersionsAllGroups() const {
  std::vector<GroupVersion> result;
  for (const auto& [group, versions] : priorities_) {
    for (const String& version : versions) result.push_back({group, version});
  }
  for (const GroupVersion& version : observed_) {
    if (!contains(result, version)) result.push_back(version);
  }
  return result;
}

std::vector<GroupVersion> Scheme::preferredVersionAllGroups() const {
  std::vector<GroupVersion> result;
  for (const auto& [group, versions] : priorities_) result.push_back({group, versions.front()});
  for (const GroupVersion& version : observed_) {
    const auto known = std::ranges::find(result, version.group, &GroupVersion::group);
    if (known == result.end()) result.push_back(version);
  }
  return result;
}

bool Scheme::isGroupRegistered(std::string_view group) const noexcept {
  return std::ranges::any_of(observed_, [&](const GroupVersion& v) { return v.group == group; });
}

bool Scheme::isVersionRegistered(const GroupVersion& version) const noexcept {
  return contains(observed_, version);
}

std::vector<GroupVersion> Scheme::versionsForGroupKind(const GroupKind& kind) const {
  std::vector<GroupVersion> result = prioritizedVersionsForGroup(kind.group);
  std::erase_if(result, [&](const GroupVersion& version) {
    return !recognizes(version.withKind(kind.kind));
  });
  return result;
}

Scheme::FieldLabel Scheme::convertFieldLabel(const GroupVersionKind& gvk, std::string_view label,
                                             std::string_view value) const {
  const auto found = fieldLabels_.find(gvk);
  if (found != fieldLabels_.end()) return found->second(label, value);
  if (label == "metadata.name" || label == "metadata.namespace") return {label, value};
  throw Error(fmt::format(
      "\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
      label));
}

void Scheme::applyDefaults(const TypeInfo& type, void* object) const {
  if (const auto found = defaultings_.find(&type); found != defaultings_.end()) {
    found->second.one(object);
    return;
  }
  const FieldInfo* items = type.field("items");
  if (items == nullptr || items->shape != Shape::List || items->kind != FieldKind::Message) return;
  if (const auto found = defaultings_.find(items->type); found != defaultings_.end()) {
    found->second.list(static_cast<std::byte*>(object) + items->offset);
  }
}

void addToGroupVersion(Scheme& scheme, const GroupVersion& version) {
  using namespace metav1;  // NOLINT: a list of its types
  scheme.addKnownTypes<WatchEvent, ListOptions, GetOptions, DeleteOptions, CreateOptions,
                       UpdateOptions, PatchOptions>(version);
  scheme.addUnversionedTypes<Status, APIVersions, APIGroup, APIGroupList, APIResourceList>(
      {"", "v1"});
}

}  // namespace kube
