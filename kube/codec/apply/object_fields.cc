#include "kube/codec/apply/object_fields.h"

#include <utility>

#include "kube/codec/apply/internal/apply_place.h"
#include "kube/codec/apply/internal/apply_walk.h"

namespace kube {

using detail::ApplyPlace;

FieldSet fieldsOf(const Value& object, ObjectSchema schema) {
  const ApplyPlace place = ApplyPlace::root(schema);
  detail::validate(object, place, /*allowDuplicates=*/true);
  return detail::fieldsIn(object, place);
}

FieldSet fieldsOf(const TypeInfo& type, const void* object) {
  return fieldsOf(toUnstructured(type, object).object, &type);
}

Value removeItems(const Value& object, const FieldSet& set, ObjectSchema schema) {
  return detail::removeFields(object, set, ApplyPlace::root(schema));
}

Value extractItems(const Value& object, const FieldSet& set, ObjectSchema schema) {
  return detail::extractFields(object, set, ApplyPlace::root(schema));
}

FieldSet appliedFields(const Value& object, std::string_view fieldManager,
                       std::string_view subresource) {
  for (const Value& entry : object["metadata"]["managedFields"].asArray()) {
    if (entry["manager"].asString() == fieldManager && entry["operation"] == Value("Apply") &&
        entry["subresource"].asString() == subresource) {
      return FieldSet::fromValue(entry["fieldsV1"]).leaves();
    }
  }
  return {};
}

Value extract(const Value& object, ObjectSchema schema, std::string_view fieldManager,
              std::string_view subresource) {
  const ApplyPlace place = ApplyPlace::root(schema);
  detail::validate(object, place, /*allowDuplicates=*/true);
  Value result =
      detail::extractFields(object, appliedFields(object, fieldManager, subresource), place);
  for (const char* key : {"apiVersion", "kind"}) {
    if (object.asObject().contains(key)) result[key] = object[key];
  }
  for (const char* key : {"name", "namespace"}) {
    const Value& metadata = object["metadata"];
    if (metadata.asObject().contains(key)) result["metadata"][key] = metadata[key];
  }
  return result;
}

}  // namespace kube
