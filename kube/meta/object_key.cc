#include "kube/meta/object_key.h"

#include <fmt/core.h>

#include <ostream>

#include "kube/base/error.h"
#include "kube/base/internal/utf8.h"
#include "kube/meta/any_object.h"
#include "kube/meta/unstructured.h"

namespace kube {

ObjectKey ObjectKey::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {.name = text};
  if (const std::size_t second = text.find('/', slash + 1); second != std::string_view::npos) {
    throw DecodeError({.format = "object key", .offset = second},
                      fmt::format("unexpected key format: {}: expected namespace/name or name",
                                  detail::quoted(text)));
  }
  return {.namespace_ = text.substr(0, slash), .name = text.substr(slash + 1)};
}

std::string ObjectKey::str() const {
  if (namespace_.empty()) return name.str();
  std::string text;
  text.reserve(namespace_.size() + 1 + name.size());
  return text.append(namespace_).append("/").append(name);
}

ObjectKey keyOf(const Unstructured& object) { return {object.namespace_(), object.name()}; }

ObjectKey keyOf(const AnyObject& object) {
  if (const auto* unstructured = object.as<Unstructured>()) return keyOf(*unstructured);
  const FieldInfo* field = object.type().field("metadata");
  if (field == nullptr || field->type != &TypeOf<metav1::ObjectMeta>::info ||
      field->shape != Shape::Plain) {
    throw Error(fmt::format("{}: has no object metadata, and so no key", object.type().name));
  }
  const auto* at = static_cast<const std::byte*>(object.data()) + field->offset;
  return keyOf(*reinterpret_cast<const metav1::ObjectMeta*>(at));
}

std::ostream& operator<<(std::ostream& out, const ObjectKey& key) { return out << key.str(); }

}  // namespace kube
