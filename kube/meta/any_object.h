// An object whose C++ type is known only at run time: a described struct and its description.
//
//   AnyObject object(*builtInKind("v1", "Pod"));
//   if (const auto* pod = object.as<corev1::Pod>()) ...
//   if (const auto* meta = object.objectMeta()) log("found {}", meta->name);
//
// Besides the struct it knows its kind: the kind in its type's description, unless the object was
// made or decoded as another kind (a Scheme may know a type as several kinds).
//
// Copying copies the struct, which shares its parts: a deep copy in effect. A moved-from object may
// only be assigned to or destroyed. Thread safety: as any C++ value.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"

namespace kube {

namespace metav1 {
struct ObjectMeta;
struct ListMeta;
}  // namespace metav1

class AnyObject {
 public:
  /// Makes a default-constructed object of the type.
  explicit AnyObject(const TypeInfo& type) : type_(&type), data_(allocate(type)) {
    type.construct(data_.get());
  }
  template <Described T>
  explicit AnyObject(const T& object) : AnyObject(TypeOf<T>::info, &object) {}
  AnyObject(const AnyObject& other) : AnyObject(*other.type_, other.data()) { gvk_ = other.gvk_; }
  AnyObject(AnyObject&& other) noexcept = default;
  AnyObject& operator=(AnyObject other) noexcept {
    std::swap(type_, other.type_);
    std::swap(data_, other.data_);
    std::swap(gvk_, other.gvk_);
    return *this;
  }
  ~AnyObject() {
    if (data_ != nullptr) type_->destroy(data_.get());
  }

  const TypeInfo& type() const noexcept { return *type_; }
  void* data() noexcept { return data_.get(); }
  const void* data() const noexcept { return data_.get(); }

  /// The object if it is of type T; else null.
  template <Described T>
  T* as() noexcept {
    return type_ == &TypeOf<T>::info ? reinterpret_cast<T*>(data_.get()) : nullptr;
  }
  template <Described T>
  const T* as() const noexcept {
    return type_ == &TypeOf<T>::info ? reinterpret_cast<const T*>(data_.get()) : nullptr;
  }

  /// The kind that was set, else the kind in the type's description; empty if the type is not a
  /// kind. The kind of an Unstructured is in its own fields.
  GroupVersionKind gvk() const;
  void setGvk(GroupVersionKind gvk);

  /// The metadata of a single object; null for lists, and for types without metadata.
  const metav1::ObjectMeta* objectMeta() const noexcept;
  metav1::ObjectMeta* objectMeta() noexcept;
  /// The metadata of a list; else null.
  const metav1::ListMeta* listMeta() const noexcept;
  metav1::ListMeta* listMeta() noexcept;

 private:
  AnyObject(const TypeInfo& type, const void* from) : type_(&type), data_(allocate(type)) {
    type.copy(data_.get(), from);
  }
  static std::unique_ptr<std::byte[]> allocate(const TypeInfo& type) {
    return std::unique_ptr<std::byte[]>(new std::byte[type.size]);
  }
  std::byte* metadata(const TypeInfo& wanted) const noexcept;

  const TypeInfo* type_;
  std::unique_ptr<std::byte[]> data_;
  GroupVersionKind gvk_;  // empty: the kind of the type
};

}  // namespace kube
