// An API object whose type is known only at run time, and a list of such objects: the results of
// dynamic clients and informers.
//
//   Unstructured object = parseUnstructured(text);            // kube/codec/unstructured.h
//   object.setName("web");
//   auto replicas = object.nestedInt64("spec", "replicas");   // nullopt: not there
//   object.setNestedField(3, "spec", "replicas");
//
// The rules are those of apimachinery's Unstructured. Getters of well-known fields read absent
// fields, and fields of another type, as empty; setters remove the field if the new value is empty.
// The nested... functions throw DecodeError with the path if a field is of another type (see
// kube/meta/nested.h). A path is given as separate keys, or as one list of them: {"spec",
// "replicas"}.
//
// Thread safety: that of Value. Copies are cheap and share memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kube/meta/gvk.h"
#include "kube/meta/nested.h"
#include "kube/meta/time.h"
#include "kube/meta/v1.h"
#include "kube/meta/value.h"

namespace kube {

class UnstructuredList;

class Unstructured {
 public:
  Unstructured() = default;
  explicit Unstructured(Value value) noexcept : object(std::move(value)) {}

  /// The whole object: null, or an object with kind, apiVersion, metadata and other fields.
  Value object;

  String apiVersion() const;
  void setApiVersion(String apiVersion);
  String kind() const;
  void setKind(String kind);
  /// Empty if apiVersion is malformed.
  GroupVersionKind gvk() const;
  void setGvk(const GroupVersionKind& gvk);

  String name() const;
  void setName(String name);
  String generateName() const;
  void setGenerateName(String generateName);
  String namespace_() const;
  void setNamespace(String namespace_);
  String uid() const;
  void setUid(String uid);
  String resourceVersion() const;
  void setResourceVersion(String resourceVersion);
  String selfLink() const;
  void setSelfLink(String selfLink);
  std::int64_t generation() const;
  void setGeneration(std::int64_t generation);

  Time creationTimestamp() const;
  void setCreationTimestamp(Time time);
  Time deletionTimestamp() const;
  void setDeletionTimestamp(Time time);
  std::optional<std::int64_t> deletionGracePeriodSeconds() const;
  void setDeletionGracePeriodSeconds(std::optional<std::int64_t> seconds);

  /// A null value among the strings reads as "".
  Map<String> labels() const;
  void setLabels(const Map<String>& labels);
  Map<String> annotations() const;
  void setAnnotations(const Map<String>& annotations);
  List<String> finalizers() const;
  void setFinalizers(const List<String>& finalizers);
  List<metav1::OwnerReference> ownerReferences() const;
  void setOwnerReferences(const List<metav1::OwnerReference>& owners);
  /// The entries in their JSON form.
  Value::Array managedFields() const;
  void setManagedFields(Value::Array managedFields);

  /// True if `items` is an array.
  bool isList() const noexcept;
  /// The items and all other fields. Throws DecodeError if this is not a list, or an item is not an
  /// object.
  UnstructuredList toList() const;

  bool operator==(const Unstructured&) const = default;

  std::optional<Value> nestedField(FieldPath path) const { return kube::nestedField(object, path); }
  std::optional<String> nestedString(FieldPath path) const {
    return kube::nestedString(object, path);
  }
  std::optional<bool> nestedBool(FieldPath path) const { return kube::nestedBool(object, path); }
  std::optional<std::int64_t> nestedInt64(FieldPath path) const {
    return kube::nestedInt64(object, path);
  }
  std::optional<double> nestedDouble(FieldPath path) const {
    return kube::nestedDouble(object, path);
  }
  std::optional<List<String>> nestedStringList(FieldPath path) const {
    return kube::nestedStringList(object, path);
  }
  std::optional<Map<String>> nestedStringMap(FieldPath path) const {
    return kube::nestedStringMap(object, path);
  }
  std::optional<Value::Array> nestedSlice(FieldPath path) const {
    return kube::nestedSlice(object, path);
  }
  std::optional<Value::Object> nestedMap(FieldPath path) const {
    return kube::nestedMap(object, path);
  }
  void setNestedField(Value value, FieldPath path) {
    kube::setNestedField(object, std::move(value), path);
  }
  bool removeNestedField(FieldPath path) { return kube::removeNestedField(object, path); }

  // The same with separate keys.
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedField(const Keys&... keys) const {
    return nestedField({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedString(const Keys&... keys) const {
    return nestedString({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedBool(const Keys&... keys) const {
    return nestedBool({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedInt64(const Keys&... keys) const {
    return nestedInt64({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedDouble(const Keys&... keys) const {
    return nestedDouble({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedStringList(const Keys&... keys) const {
    return nestedStringList({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedStringMap(const Keys&... keys) const {
    return nestedStringMap({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedSlice(const Keys&... keys) const {
    return nestedSlice({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  auto nestedMap(const Keys&... keys) const {
    return nestedMap({std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  void setNestedField(Value value, const Keys&... keys) {
    setNestedField(std::move(value), {std::string_view(keys)...});
  }
  template <std::convertible_to<std::string_view>... Keys>
  bool removeNestedField(const Keys&... keys) {
    return removeNestedField({std::string_view(keys)...});
  }
};

// Decoders fill an Unstructured as if it were a Value.
static_assert(sizeof(Unstructured) == sizeof(Value) && std::is_standard_layout_v<Unstructured>);

class UnstructuredList {
 public:
  /// All fields except `items`: kind, apiVersion, metadata and others.
  Value object;
  List<Unstructured> items;

  String apiVersion() const;
  void setApiVersion(String apiVersion);
  String kind() const;
  void setKind(String kind);
  GroupVersionKind gvk() const;
  void setGvk(const GroupVersionKind& gvk);

  String resourceVersion() const;
  void setResourceVersion(String resourceVersion);
  String selfLink() const;
  void setSelfLink(String selfLink);
  /// The token for the next page; empty on the last page.
  String continue_() const;
  void setContinue(String token);
  std::optional<std::int64_t> remainingItemCount() const;
  void setRemainingItemCount(std::optional<std::int64_t> count);

  /// A single object that contains the items.
  Unstructured toUnstructured() const;

  bool operator==(const UnstructuredList&) const = default;
};

/// Lets every codec, and everything built on codecs, take Unstructured like any described type.
template <>
struct TypeOf<Unstructured> {
  static const TypeInfo info;
};

}  // namespace kube
