// The fields of an object that one manager wants to own, for server-side apply.
//
//   kube::Apply<kube::appsv1::Deployment> wanted;
//   wanted->metadata.name = "web";
//   wanted->spec->replicas = 3;                  // sent, since it differs from a new object
//   wanted.set(wanted->spec->paused, false);     // sent, although a new object has false too
//   deployments.apply(wanted, {.fieldManager = "my-controller"});
//
//   auto mine = kube::extract(deployments.get("web"), "my-controller");
//   mine->spec->replicas = 4;
//   mine.unset(mine->spec->paused);              // no longer owned; without other owners: removed
//   deployments.apply(mine, {.fieldManager = "my-controller"});
//
// Applying sends the fields that were set and nothing else, so that nothing is owned by accident:
// no zero, no empty list, no field that an ordinary create would add because it is required.
// Messages that are present are sent even if they are empty, as are all elements of lists and all
// entries of maps. A plain T can be applied too; `Apply` adds the intended zeros, which a plain
// field cannot express.
//
// `extract` returns the fields that a manager has applied, zeros included. Change it and apply it
// again: the manager keeps all fields that were not changed.
//
// Elements of a list are identified by their keys if the schema has some, else by their index: set
// the keys of an element before a zero inside it.
//
// Errors: Error if a field that is set is not part of the object; those of object_fields.h.
//
// Thread safety: as any C++ value.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kube/codec/apply/field_set.h"
#include "kube/codec/apply/object_fields.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/type_info.h"

namespace kube {

/// Writes the body of an apply in JSON: the fields that differ from a new object, and `zeros`.
void encodeApply(const TypeInfo& type, const void* object, const FieldSet& zeros, std::string& out);

namespace detail {
/// The path of a field of this form in the object, by its address. Throws Error if it is not there.
FieldSet::Path pathOf(const TypeInfo& type, const void* object, const FieldInfo& form,
                      const void* field);
/// The fields among `fields` that the object's own encoding leaves out.
FieldSet zerosOf(const TypeInfo& type, const void* object, const FieldSet& fields);

template <class Field>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<Shared<T>> = true;
}  // namespace detail

template <Described T>
class Apply {
 public:
  Apply() = default;
  /// `zeros` are fields to send although they are zero or empty.
  explicit Apply(T object, FieldSet zeros = {})
      : object_(std::move(object)), zeros_(std::move(zeros)) {}

  T& operator*() noexcept { return object_; }
  const T& operator*() const noexcept { return object_; }
  T* operator->() noexcept { return &object_; }
  const T* operator->() const noexcept { return &object_; }

  /// Sets a field of this object, and sends it whatever the value is: false, 0, "", [] and {} too.
  template <class Field, class V = Field>
  void set(Field& field, V&& value) {
    field = std::forward<V>(value);
    if constexpr (detail::kIsShared<Field>) {
      if (!field) field.emplace();
    }
    zeros_.insert(pathOf(field));
  }
  /// Resets a field of this object to its value in a new one, and no longer sends it.
  template <class Field>
  void unset(Field& field) {
    field = Field{};
    zeros_ = zeros_.recursiveDifference(FieldSet{pathOf(field)});
  }

  /// The fields that are sent although they may be zero or empty.
  const FieldSet& zeros() const noexcept { return zeros_; }

  std::string toJson() const {
    std::string out;
    encodeApply(TypeOf<T>::info, &object_, zeros_, out);
    return out;
  }

 private:
  template <class Field>
  FieldSet::Path pathOf(const Field& field) const {
    static constexpr FieldInfo kForm = detail::makeField<Field>("", 0, 0);
    return detail::pathOf(TypeOf<T>::info, &object_, kForm, &field);
  }

  T object_{};
  FieldSet zeros_;
};

/// The fields that `fieldManager` has applied, through the subresource if one is given; apiVersion,
/// kind, name and namespace are always included. See extract() in kube/codec/apply/object_fields.h
/// for the errors.
template <Described T>
Apply<T> extract(const T& object, std::string_view fieldManager,
                 std::string_view subresource = "") {
  const TypeInfo& type = TypeOf<T>::info;
  const Value all = toUnstructured(object).object;
  T mine = fromUnstructured<T>(Unstructured(extract(all, &type, fieldManager, subresource)));
  // An owned field that is missing is a zero, which objects leave out.
  FieldSet zeros = detail::zerosOf(type, &mine, appliedFields(all, fieldManager, subresource));
  return Apply<T>(std::move(mine), std::move(zeros));
}

}  // namespace kube
