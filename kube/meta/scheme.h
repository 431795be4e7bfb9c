// The C++ types of kinds, the conversions between their versions, and their defaults:
// apimachinery's runtime.Scheme.
//
//   kube::Scheme scheme;
//   scheme.addKnownTypes<v1::Network, v1::NetworkList>({"samplecrd.k8s.io", "v1"});
//   scheme.addKnownTypes<v1alpha1::Network>({"samplecrd.k8s.io", "v1alpha1"});
//   scheme.addConversion<v1alpha1::Network, v1::Network>(...);
//   scheme.addDefaulting<v1::Network>([](v1::Network& n) { ... });
//
//   kube::AnyObject object = scheme.newObject({"samplecrd.k8s.io", "v1", "Network"});
//   auto network = scheme.convertTo<v1::Network>(old);
//   kube::AnyObject other = scheme.convertToVersion(object, {"samplecrd.k8s.io", "v1alpha1"});
//
// A group may have a hub, a version that all others convert from and to: the type registered under
// kInternalVersion, or a version chosen by setHub. A conversion between two other versions then
// goes through the hub, so n versions need 2n functions, not n². kube/meta/conversion.h describes
// conversions without a registered function.
//
// A group's types are best registered by a function `addToScheme(Scheme&)`, see SchemeBuilder.
// builtInScheme() (kube/api/scheme.h) has the built-in types; programs may copy it and add to the
// copy.
//
// A Scheme is a value; copying it copies the tables. Using it changes nothing: const functions may
// be called from any thread, the others from one thread and before that. A function that throws
// leaves the scheme, and every object passed to it, unchanged.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/meta/any_object.h"
#include "kube/meta/conversion.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"

namespace kube {

/// The version of types that are the hub of their group and have no encoding.
inline constexpr std::string_view kInternalVersion = "__internal";

/// A kind or type that a scheme does not know. The one that was looked up is set.
class NotRegisteredError : public Error {
 public:
  NotRegisteredError(const std::string& message, GroupVersionKind gvk, const TypeInfo* type);
  ~NotRegisteredError() override;

  const GroupVersionKind& gvk() const noexcept { return gvk_; }
  const TypeInfo* type() const noexcept { return type_; }

 private:
  GroupVersionKind gvk_;
  const TypeInfo* type_;
};
bool isNotRegistered(const std::exception& error) noexcept;

class Scheme {
 public:
  /// `name` appears in messages.
  explicit Scheme(std::string name = {}) : name_(std::move(name)) {}

  const std::string& name() const noexcept { return name_; }

  // --- Types.

  /// Registers types under the kinds in their descriptions, or else their own names. Throws Error
  /// if another type has such a kind already; the same type may be registered again.
  template <Described... T>
  void addKnownTypes(const GroupVersion& version) {
    const TypeInfo* types[] = {&TypeOf<T>::info...};
    addKnownTypes(version, types);
  }
  void addKnownTypes(const GroupVersion& version, std::span<const TypeInfo* const> types);
  template <Described T>
  void addKnownTypeWithName(const GroupVersionKind& gvk) {
    addKnownTypeWithName(gvk, TypeOf<T>::info);
  }
  void addKnownTypeWithName(const GroupVersionKind& gvk, const TypeInfo& type);
  /// Registers types that are the same in every group and version, such as Status. They are never
  /// converted, and are found by their kind in any version; so no other type may have the kind.
  template <Described... T>
  void addUnversionedTypes(const GroupVersion& version) {
    const TypeInfo* types[] = {&TypeOf<T>::info...};
    addUnversionedTypes(version, types);
  }
  void addUnversionedTypes(const GroupVersion& version, std::span<const TypeInfo* const> types);

  /// The types of a version, by their kinds.
  std::map<String, const TypeInfo*> knownTypes(const GroupVersion& version) const;
  const std::unordered_map<GroupVersionKind, const TypeInfo*>& allKnownTypes() const noexcept {
    return types_;
  }
  /// The type of a kind, even if it is unversioned and was registered in another version; null if
  /// there is none.
  const TypeInfo* typeOf(const GroupVersionKind& gvk) const;
  bool recognizes(const GroupVersionKind& gvk) const { return types_.contains(gvk); }
  /// A default-constructed object of the kind. Throws NotRegisteredError.
  AnyObject newObject(const GroupVersionKind& gvk) const;

  struct ObjectKinds {
    std::vector<GroupVersionKind> kinds;  // in order of registration
    bool unversioned = false;
  };
  /// All kinds of the object's type. For an Unstructured, the kind in its fields, which must be
  /// set. Throws NotRegisteredError.
  ObjectKinds objectKinds(const AnyObject& object) const;
  ObjectKinds objectKinds(const TypeInfo& type) const;
  template <Described T>
  ObjectKinds objectKinds() const {
    return objectKinds(TypeOf<T>::info);
  }

  // --- Versions.

  /// Orders the versions of one group, the most preferred first. Other versions of the group follow
  /// in order of registration.
  void setVersionPriority(std::span<const GroupVersion> versions);
  void setVersionPriority(std::initializer_list<GroupVersion> versions) {
    setVersionPriority(std::span(versions.begin(), versions.size()));
  }
  std::vector<GroupVersion> prioritizedVersionsForGroup(std::string_view group) const;
  std::vector<GroupVersion> prioritizedVersionsAllGroups() const;
  /// The first version of each group.
  std::vector<GroupVersion> preferredVersionAllGroups() const;
  /// In order of their first registration; without kInternalVersion.
  const std::vector<GroupVersion>& observedVersions() const noexcept { return observed_; }
  bool isGroupRegistered(std::string_view group) const noexcept;
  bool isVersionRegistered(const GroupVersion& version) const noexcept;
  /// The versions of a group that have this kind, the most preferred first.
  std::vector<GroupVersion> versionsForGroupKind(const GroupKind& kind) const;

  // --- Conversion.

  /// `function` takes (const A&, B&) and optionally a ConversionScope&. B is default-constructed
  /// before the call. A later function for the same pair replaces it.
  template <Described A, Described B, detail::Converts<A, B> F>
  void addConversion(F function) {
    pair(TypeOf<A>::info, TypeOf<B>::info).function =
        detail::eraseConversion<A, B>(std::move(function));
  }
  /// Adds a function that is used only if addConversion registers none for the pair, in any order.
  template <Described A, Described B, detail::Converts<A, B> F>
  void addGeneratedConversion(F function) {
    pair(TypeOf<A>::info, TypeOf<B>::info).generated =
        detail::eraseConversion<A, B>(std::move(function));
  }
  /// Makes the conversion of A to B do nothing: the data is dropped on purpose.
  template <Described A, Described B>
  void addIgnoredConversion() {
    pair(TypeOf<A>::info, TypeOf<B>::info).ignored = true;
  }
  /// Allows A to become B by the tables, although they are different kinds.
  template <Described A, Described B>
  void addDefaultConversion() {
    pair(TypeOf<A>::info, TypeOf<B>::info).byDefault = true;
  }
  /// The same; fields anywhere in A that have no counterpart in B are dropped.
  template <Described A, Described B>
  void addLossyConversion() {
    detail::Conversion& conversion = pair(TypeOf<A>::info, TypeOf<B>::info);
    conversion.byDefault = conversion.lossy = true;
  }
  /// Sets the version through which other versions of the kind are converted.
  void setHub(const GroupKind& kind, String version) { hubs_[kind] = std::move(version); }

  /// Converts `in` to the type of `out`: by a registered function, else through the hub, else by
  /// default. The last requires two versions of one kind, or two types that are not kinds. Throws
  /// ConversionError.
  template <Described A, Described B>
  void convert(const A& in, B& out) const {
    B fresh{};
    if (convertWhole(TypeOf<A>::info, &in, TypeOf<B>::info, &fresh)) out = std::move(fresh);
  }
  void convert(const AnyObject& in, AnyObject& out) const;
  template <Described B, Described A>
  B convertTo(const A& in) const {
    B out{};
    convertWhole(TypeOf<A>::info, &in, TypeOf<B>::info, &out);
    return out;
  }

  /// Converts the object to a version, or to the best of several: its own version if that is among
  /// them, else the first that its group has. Throws NotRegisteredError if there is none, or
  /// ConversionError.
  AnyObject convertToVersion(const AnyObject& object, std::span<const GroupVersion> targets) const;
  AnyObject convertToVersion(const AnyObject& object, const GroupVersion& target) const {
    return convertToVersion(object, std::span(&target, 1));
  }
  template <Described T>
  AnyObject convertToVersion(const T& object, const GroupVersion& target) const {
    return convertToVersion(AnyObject(object), target);
  }

  // --- Field selectors.

  struct FieldLabel {
    String label;
    String value;
    bool operator==(const FieldLabel&) const = default;
  };
  using FieldLabelConversion = std::function<FieldLabel(std::string_view, std::string_view)>;
  /// Registers how a selector's field and value of that version are written in the hub. The
  /// function throws Error for fields that cannot be selected by.
  void addFieldLabelConversion(const GroupVersionKind& gvk, FieldLabelConversion function) {
    fieldLabels_[gvk] = std::move(function);
  }
  /// Without a function, only metadata.name and metadata.namespace are known.
  FieldLabel convertFieldLabel(const GroupVersionKind& gvk, std::string_view label,
                               std::string_view value) const;

  // --- Defaults.

  /// `function` takes a T& and sets absent fields. A later function for the same type replaces it.
  template <Described T, std::invocable<T&> F>
  void addDefaulting(F function) {
    Defaulting& defaulting = defaultings_[&TypeOf<T>::info];
    defaulting.one = [function](void* object) { function(*static_cast<T*>(object)); };
    defaulting.list = [function](void* list) {
      for (T& item : *static_cast<List<T>*>(list)) function(item);
    };
  }
  /// Sets the defaults of the object; for a list without a function of its own, those of its items.
  /// If a function throws, the object keeps the changes made so far.
  void applyDefaults(AnyObject& object) const { applyDefaults(object.type(), object.data()); }
  template <Described T>
  void applyDefaults(T& object) const {
    applyDefaults(TypeOf<T>::info, &object);
  }

 private:
  friend class ConversionScope;
  friend class detail::DefaultConversion;

  struct Defaulting {
    std::function<void(void*)> one;
    std::function<void(void*)> list;  // a List of such objects
  };

  void checkKind(const GroupVersionKind& gvk, const TypeInfo& type) const;
  void addKind(const GroupVersionKind& gvk, const TypeInfo& type);
  void observe(const GroupVersion& version);
  std::string inScheme() const;
  std::string describe(const TypeInfo& type) const;
  void applyDefaults(const TypeInfo& type, void* object) const;

  // In scheme_convert.cc.
  detail::Conversion& pair(const TypeInfo& from, const TypeInfo& to) {
    return conversions_[{&from, &to}];
  }
  const detail::Conversion* findPair(const TypeInfo& from, const TypeInfo& to) const;
  std::vector<GroupVersionKind> kindsOf(const TypeInfo& type) const;
  const TypeInfo* hubBetween(const ConversionScope& scope, const TypeInfo& from,
                             const TypeInfo& to) const;
  bool mayDefault(const TypeInfo& from, const TypeInfo& to) const;
  bool convertWhole(const TypeInfo& from, const void* in, const TypeInfo& to, void* out) const;
  void convertPair(ConversionScope& scope, const TypeInfo& from, const void* in, const TypeInfo& to,
                   void* out) const;
  void convertDirectly(ConversionScope& scope, const TypeInfo& from, const void* in,
                       const TypeInfo& to, void* out) const;
  bool convertPart(ConversionScope& scope, const TypeInfo& from, const void* in, const TypeInfo& to,
                   void* out) const;
  bool callRegistered(ConversionScope& scope, const TypeInfo& from, const void* in,
                      const TypeInfo& to, void* out) const;

  std::string name_;
  std::unordered_map<GroupVersionKind, const TypeInfo*> types_;
  std::unordered_map<const TypeInfo*, std::vector<GroupVersionKind>> kinds_;
  std::unordered_map<const TypeInfo*, GroupVersionKind> unversionedTypes_;
  std::unordered_map<String, const TypeInfo*> unversionedKinds_;
  std::vector<GroupVersion> observed_;
  std::map<String, std::vector<String>> priorities_;  // by group
  detail::ConversionTable conversions_;
  std::unordered_map<GroupKind, String> hubs_;
  std::unordered_map<GroupVersionKind, FieldLabelConversion> fieldLabels_;
  std::unordered_map<const TypeInfo*, Defaulting> defaultings_;
};

/// The functions that register a group, collected beside its types:
///
///   const kube::SchemeBuilder kBuilder{addTypes, addConversions};
///   void addToScheme(kube::Scheme& scheme) { kBuilder.addToScheme(scheme); }
class SchemeBuilder {
 public:
  using Function = std::function<void(Scheme&)>;

  SchemeBuilder() = default;
  SchemeBuilder(std::initializer_list<Function> functions) : functions_(functions) {}

  void add(Function function) { functions_.push_back(std::move(function)); }
  /// Calls the functions in order. If one throws, the exception passes through and the rest is not
  /// called.
  void addToScheme(Scheme& scheme) const {
    for (const Function& function : functions_) function(scheme);
  }

 private:
  std::vector<Function> functions_;
};

/// Registers the types that every group-version has besides its own: WatchEvent, ListOptions,
/// DeleteOptions and the like; and the unversioned Status, APIVersions, APIGroup, APIGroupList and
/// APIResourceList.
void addToGroupVersion(Scheme& scheme, const GroupVersion& version);

}  // namespace kube
