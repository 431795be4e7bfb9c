// Checks what the Kubernetes extensions of a schema promise: lists that are sets or maps have no
// duplicate elements, and embedded resources are resources.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "kube/apiserver/schema/schema_node.h"
#include "kube/apiserver/schema/schema_place.h"
#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/base/joined.h"
#include "kube/codec/apply/path_element.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/gvk.h"
#include "kube/meta/validation/object_validation.h"
#include "kube/meta/validation/validation.h"

namespace kube::apiserver {

namespace {

class ListCheck {
 public:
  void walk(const Value& value, const SchemaNode* node, const SchemaPlace& place) {
    if (node == nullptr || !node->hasUniqueLists || found_.full()) return;
    if (value.isObject()) {
      for (const auto& [key, member] : value.asObject()) {
        if (const SchemaNode* inside = node->property(key)) {
          walk(member, inside, place.child(key));
        } else {
          walk(member, node->additional, place.key(key));
        }
      }
    } else if (value.isArray()) {
      list(value.asArray(), *node, place);
    }
  }

  FieldErrors done() { return std::move(found_.list()); }

 private:
  struct Less {
    bool operator()(const Value& a, const Value& b) const { return compareValues(a, b) < 0; }
  };

  void list(const Value::Array& items, const SchemaNode& node, const SchemaPlace& place) {
    if (node.listType == SchemaNode::ListType::Set) {
      unique(items, place, [](const Value& item) { return item; });
    } else if (node.listType == SchemaNode::ListType::Map && areObjects(items, place)) {
      unique(items, place, [&](const Value& item) {
        Value::Object key;
        for (const String& name : node.listMapKeys) {
          const auto at = item.asObject().find(name);
          if (at != item.asObject().end()) key.insert_or_assign(name, at->value);
        }
        return Value(std::move(key));
      });
    }
    std::size_t i = 0;
    for (const Value& item : items) walk(item, node.items, place.index(i++));
  }

  bool areObjects(const Value::Array& items, const SchemaPlace& place) {
    const auto at = std::find_if(items.begin(), items.end(), [](const Value& item) {
      return !item.isObject() && !item.isNull();
    });
    if (at == items.end()) return true;
    found_.add(FieldError::invalid(place.index(static_cast<std::size_t>(at - items.begin())).path(),
                                   *at, "must be an object for an array of list-type map"));
    return false;
  }

  // Reports the second of several equal elements.
  template <class Key>
  void unique(const Value::Array& items, const SchemaPlace& place, Key keyOf) {
    std::map<Value, int, Less> seen;
    std::size_t i = 0;
    for (const Value& item : items) {
      Value key = keyOf(item);
      if (++seen[key] == 2 && !found_.full()) {
        found_.add(FieldError::duplicate(place.index(i).path(), std::move(key)));
      }
      ++i;
    }
  }

  FoundErrors found_;
};

class EmbeddedCheck {
 public:
  void walk(const Value& value, const SchemaNode* node, bool resource, const SchemaPlace& place) {
    if (node == nullptr || !(resource || node->hasEmbedded) || found_.full()) return;
    if (value.isObject()) {
      if (resource) check(value.asObject(), place);
      for (const auto& [key, member] : value.asObject()) {
        if (const SchemaNode* inside = node->property(key)) {
          walk(member, inside, inside->embeddedResource, place.child(key));
        } else if (node->additional != nullptr) {
          walk(member, node->additional, node->additional->embeddedResource, place.key(key));
        }
      }
    } else if (value.isArray() && node->items != nullptr) {
      std::size_t i = 0;
      for (const Value& item : value.asArray()) {
        walk(item, node->items, node->items->embeddedResource, place.index(i++));
      }
    }
  }

  FieldErrors done() { return std::move(found_.list()); }

 private:
  void check(const Value::Object& object, const SchemaPlace& place) {
    for (const std::string_view name : {"apiVersion", "kind"}) {
      const auto at = object.find(name);
      const SchemaPlace field = place.child(name);
      if (at == object.end()) {
        found_.add(FieldError::required(field.path()));
      } else if (!at->value.isString()) {
        found_.add(FieldError::invalid(field.path(), at->value, "must be a string"));
      } else if (at->value.asString().empty()) {
        found_.add(FieldError::invalid(field.path(), at->value, "must not be empty"));
      } else if (const std::string why = problem(name, at->value.asString()); !why.empty()) {
        found_.add(FieldError::invalid(field.path(), at->value, why));
      }
    }
    const auto metadata = object.find("metadata");
    if (metadata != object.end()) checkMetadata(metadata->value, place.child("metadata"));
  }

  static std::string problem(std::string_view name, std::string_view text) {
    if (name == "apiVersion") {
      if (std::count(text.begin(), text.end(), '/') <= 1) return {};
      return fmt::format("unexpected GroupVersion string: {}", text);
    }
    const validation::Reasons reasons = validation::isDNS1035Label(kube::detail::lower(text));
    if (reasons.empty()) return {};
    return fmt::format("may have mixed case, but should otherwise match: {}", joined(reasons, ","));
  }

  void checkMetadata(const Value& metadata, const SchemaPlace& place) {
    metav1::ObjectMeta meta;
    try {
      meta = fromUnstructured<metav1::ObjectMeta>(Unstructured(metadata));
    } catch (const DecodeError& error) {
      found_.add(FieldError::invalid(place.path(), metadata, error.reason()));
      return;
    }
    if (meta.name.empty()) meta.name = "fakename";  // the name is optional here
    const validation::ObjectMetaRules rules{.namespaced = !meta.namespace_.empty(),
                                            .name = validation::nameIsPathSegment};
    for (FieldError& error : validation::validateObjectMeta(meta, rules, place.path())) {
      found_.add(std::move(error));
    }
  }

  FoundErrors found_;
};

}  // namespace

FieldErrors listErrors(const Value& value, const SchemaNode& node, const ErrorPath& path) {
  const std::string root = path.empty() ? std::string() : path.str();
  ListCheck check;
  check.walk(value, &node, root.empty() ? SchemaPlace() : SchemaPlace(root));
  return check.done();
}

FieldErrors embeddedErrors(const Value& value, const SchemaNode& node, bool root,
                           const ErrorPath& path) {
  const std::string start = path.empty() ? std::string() : path.str();
  EmbeddedCheck check;
  check.walk(value, &node, root || node.embeddedResource,
             start.empty() ? SchemaPlace() : SchemaPlace(start));
  return check.done();
}

}  // namespace kube::apiserver
