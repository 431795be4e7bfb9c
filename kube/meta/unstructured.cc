#include "kube/meta/unstructured.h"

#include "kube/base/error.h"

namespace kube {

namespace {

constexpr std::string_view kMetadata = "metadata";

const Value& metadata(const Value& object, std::string_view key) noexcept {
  return object[kMetadata][key];
}

void setMetadata(Value& object, std::string_view key, Value value) {
  setNestedField(object, std::move(value), {kMetadata, key});
}

void setOrRemove(Value& object, std::string_view key, bool present, Value value) {
  if (present) {
    setMetadata(object, key, std::move(value));
  } else {
    removeNestedField(object, {kMetadata, key});
  }
}

void setText(Value& object, std::string_view key, String text) {
  const bool present = !text.empty();
  setOrRemove(object, key, present, std::move(text));
}

std::optional<std::int64_t> number(const Value& object, std::string_view key) {
  const Value& found = metadata(object, key);
  return found.isInt() ? std::optional(found.asInt()) : std::nullopt;
}

void setNumber(Value& object, std::string_view key, std::optional<std::int64_t> value) {
  setOrRemove(object, key, value.has_value(), value.value_or(0));
}

Time time(const Value& object, std::string_view key) {
  Time time;
  Time::tryParse(metadata(object, key).asString(), time);
  return time;
}

void setTime(Value& object, std::string_view key, Time time) {
  setOrRemove(object, key, !time.isZero(), time.isZero() ? Value() : Value(time.str()));
}

// Returns all strings, or none if a value is neither a string nor null.
Map<String> strings(const Value& object, std::string_view key) {
  Map<String> result;
  for (const auto& [name, value] : metadata(object, key).asObject()) {
    if (!value.isString() && !value.isNull()) return {};
    result.insert_or_assign(name, value.asString());
  }
  return result;
}

void setStrings(Value& object, std::string_view key, const Map<String>& strings) {
  Value::Object values;
  for (const auto& [name, value] : strings) values.insert_or_assign(name, value);
  setOrRemove(object, key, !strings.empty(), std::move(values));
}

GroupVersionKind gvkOf(const Value& object) {
  const auto version = GroupVersion::tryParse(object["apiVersion"].asString());
  return version ? version->withKind(object["kind"].asString()) : GroupVersionKind();
}

void setGvkOf(Value& object, const GroupVersionKind& gvk) {
  setNestedField(object, gvk.groupVersion().str(), {"apiVersion"});
  setNestedField(object, gvk.kind, {"kind"});
}

std::optional<bool> flag(const Value& value) {
  return value.isBool() ? std::optional(value.asBool()) : std::nullopt;
}

}  // namespace

String Unstructured::apiVersion() const { return object["apiVersion"].asString(); }
void Unstructured::setApiVersion(String apiVersion) {
  setNestedField(std::move(apiVersion), "apiVersion");
}
String Unstructured::kind() const { return object["kind"].asString(); }
void Unstructured::setKind(String kind) { setNestedField(std::move(kind), "kind"); }
GroupVersionKind Unstructured::gvk() const { return gvkOf(object); }
void Unstructured::setGvk(const GroupVersionKind& gvk) { setGvkOf(object, gvk); }

String Unstructured::name() const { return metadata(object, "name").asString(); }
void Unstructured::setName(String name) { setText(object, "name", std::move(name)); }
String Unstructured::generateName() const { return metadata(object, "generateName").asString(); }
void Unstructured::setGenerateName(String generateName) {
  setText(object, "generateName", std::move(generateName));
}
String Unstructured::namespace_() const { return metadata(object, "namespace").asString(); }
void Unstructured::setNamespace(String namespace_) {
  setText(object, "namespace", std::move(namespace_));
}
String Unstructured::uid() const { return metadata(object, "uid").asString(); }
void Unstructured::setUid(String uid) { setText(object, "uid", std::move(uid)); }
String Unstructured::resourceVersion() const {
  return metadata(object, "resourceVersion").asString();
}
void Unstructured::setResourceVersion(String resourceVersion) {
  setText(object, "resourceVersion", std::move(resourceVersion));
}
String Unstructured::selfLink() const { return metadata(object, "selfLink").asString(); }
void Unstructured::setSelfLink(String selfLink) {
  setText(object, "selfLink", std::move(selfLink));
}
std::int64_t Unstructured::generation() const { return number(object, "generation").value_or(0); }
void Unstructured::setGeneration(std::int64_t generation) {
  setOrRemove(object, "generation", generation != 0, generation);
}

Time Unstructured::creationTimestamp() const { return time(object, "creationTimestamp"); }
void Unstructured::setCreationTimestamp(Time time) { setTime(object, "creationTimestamp", time); }
Time Unstructured::deletionTimestamp() const { return time(object, "deletionTimestamp"); }
void Unstructured::setDeletionTimestamp(Time time) { setTime(object, "deletionTimestamp", time); }
std::optional<std::int64_t> Unstructured::deletionGracePeriodSeconds() const {
  return number(object, "deletionGracePeriodSeconds");
}
void Unstructured::setDeletionGracePeriodSeconds(std::optional<std::int64_t> seconds) {
  setNumber(object, "deletionGracePeriodSeconds", seconds);
}

Map<String> Unstructured::labels() const { return strings(object, "labels"); }
void Unstructured::setLabels(const Map<String>& labels) { setStrings(object, "labels", labels); }
Map<String> Unstructured::annotations() const { return strings(object, "annotations"); }
void Unstructured::setAnnotations(const Map<String>& annotations) {
  setStrings(object, "annotations", annotations);
}

List<String> Unstructured::finalizers() const {
  List<String> result;
  for (const Value& item : metadata(object, "finalizers").asArray()) {
    if (!item.isString()) return {};
    result.push_back(item.asString());
  }
  return result;
}
void Unstructured::setFinalizers(const List<String>& finalizers) {
  setOrRemove(object, "finalizers", !finalizers.empty(),
              Value::Array(finalizers.begin(), finalizers.end()));
}

List<metav1::OwnerReference> Unstructured::ownerReferences() const {
  List<metav1::OwnerReference> result;
  for (const Value& owner : metadata(object, "ownerReferences").asArray()) {
    if (!owner.isObject()) continue;
    result.push_back({.apiVersion = owner["apiVersion"].asString(),
                      .kind = owner["kind"].asString(),
                      .name = owner["name"].asString(),
                      .uid = owner["uid"].asString(),
                      .controller = flag(owner["controller"]),
                      .blockOwnerDeletion = flag(owner["blockOwnerDeletion"])});
  }
  return result;
}
void Unstructured::setOwnerReferences(const List<metav1::OwnerReference>& owners) {
  Value::Array values;
  for (const metav1::OwnerReference& owner : owners) {
    Value value = Value::Object{{"apiVersion", owner.apiVersion},
                                {"kind", owner.kind},
                                {"name", owner.name},
                                {"uid", owner.uid}};
    if (owner.controller) value["controller"] = *owner.controller;
    if (owner.blockOwnerDeletion) value["blockOwnerDeletion"] = *owner.blockOwnerDeletion;
    values.push_back(std::move(value));
  }
  setOrRemove(object, "ownerReferences", !owners.empty(), std::move(values));
}

Value::Array Unstructured::managedFields() const {
  return metadata(object, "managedFields").asArray();
}
void Unstructured::setManagedFields(Value::Array managedFields) {
  const bool present = !managedFields.empty();
  setOrRemove(object, "managedFields", present, std::move(managedFields));
}

bool Unstructured::isList() const noexcept { return object["items"].isArray(); }

UnstructuredList Unstructured::toList() const {
  const auto found = nestedSlice("items");
  if (!found) throw DecodeError({.path = "items"}, "expected an array, found nothing");
  UnstructuredList list;
  list.items.reserve(found->size());
  for (const Value& item : std::as_const(*found)) {
    if (!item.isObject()) {
      throw DecodeError({.path = "items[" + std::to_string(list.items.size()) + "]"},
                        std::string("expected an object, found ").append(toString(item.type())));
    }
    list.items.emplace_back(item);
  }
  list.object = object;
  list.object.object().erase("items");
  return list;
}

String UnstructuredList::apiVersion() const { return object["apiVersion"].asString(); }
void UnstructuredList::setApiVersion(String apiVersion) {
  setNestedField(object, std::move(apiVersion), {"apiVersion"});
}
String UnstructuredList::kind() const { return object["kind"].asString(); }
void UnstructuredList::setKind(String kind) { setNestedField(object, std::move(kind), {"kind"}); }
GroupVersionKind UnstructuredList::gvk() const { return gvkOf(object); }
void UnstructuredList::setGvk(const GroupVersionKind& gvk) { setGvkOf(object, gvk); }

String UnstructuredList::resourceVersion() const {
  return metadata(object, "resourceVersion").asString();
}
void UnstructuredList::setResourceVersion(String resourceVersion) {
  setText(object, "resourceVersion", std::move(resourceVersion));
}
String UnstructuredList::selfLink() const { return metadata(object, "selfLink").asString(); }
void UnstructuredList::setSelfLink(String selfLink) {
  setText(object, "selfLink", std::move(selfLink));
}
String UnstructuredList::continue_() const { return metadata(object, "continue").asString(); }
void UnstructuredList::setContinue(String token) { setText(object, "continue", std::move(token)); }
std::optional<std::int64_t> UnstructuredList::remainingItemCount() const {
  return number(object, "remainingItemCount");
}
void UnstructuredList::setRemainingItemCount(std::optional<std::int64_t> count) {
  setNumber(object, "remainingItemCount", count);
}

Unstructured UnstructuredList::toUnstructured() const {
  Value::Array values;
  values.reserve(items.size());
  for (const Unstructured& item : items) values.push_back(item.object);
  Unstructured whole(object);
  whole.object["items"] = std::move(values);
  return whole;
}

constinit const TypeInfo TypeOf<Unstructured>::info =
    detail::makeType<Unstructured>("Unstructured", {}, {}, nullptr, JsonForm::Dynamic);

}  // namespace kube
