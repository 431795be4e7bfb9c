// An object whose C++ type is known only at run time: a described struct and its description.
//
//   AnyObject object(*builtInKind("v1", "Pod"));
//   if (const auto* pod = object.as<corev1::Pod>()) ...
//
// Copying copies the struct, which shares its parts. Thread safety: as any C++ value.
#pragma once

#include <cstddef>
#include <memory>

#include "kube/meta/type_info.h"

namespace kube {

class AnyObject {
 public:
  /// A default-constructed object of that type.
  explicit AnyObject(const TypeInfo& type) : type_(&type), data_(allocate(type)) {
    type.construct(data_.get());
  }
  template <Described T>
  explicit AnyObject(const T& object) : AnyObject(TypeOf<T>::info, &object) {}
  AnyObject(const AnyObject& other) : AnyObject(*other.type_, other.data()) {}
  AnyObject(AnyObject&& other) noexcept = default;
  AnyObject& operator=(AnyObject other) noexcept {
    std::swap(type_, other.type_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~AnyObject() {
    if (data_ != nullptr) type_->destroy(data_.get());
  }

  const TypeInfo& type() const noexcept { return *type_; }
  void* data() noexcept { return data_.get(); }
  const void* data() const noexcept { return data_.get(); }

  /// The object, if it is of this type; else null.
  template <Described T>
  T* as() noexcept {
    return type_ == &TypeOf<T>::info ? reinterpret_cast<T*>(data_.get()) : nullptr;
  }
  template <Described T>
  const T* as() const noexcept {
    return type_ == &TypeOf<T>::info ? reinterpret_cast<const T*>(data_.get()) : nullptr;
  }

 private:
  AnyObject(const TypeInfo& type, const void* from) : type_(&type), data_(allocate(type)) {
    type.copy(data_.get(), from);
  }
  static std::unique_ptr<std::byte[]> allocate(const TypeInfo& type) {
    return std::unique_ptr<std::byte[]>(new std::byte[type.size]);
  }

  const TypeInfo* type_;
  std::unique_ptr<std::byte[]> data_;
};

}  // namespace kube
