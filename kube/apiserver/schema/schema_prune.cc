// Removes the fields that a schema does not specify, and brings metadata into the form of
// ObjectMeta.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "kube/apiserver/schema/schema_node.h"
#include "kube/apiserver/schema/value_rebuild.h"
#include "kube/base/error.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

namespace {

// The depth that decoders allow.
constexpr int kMaxValueDepth = 1000;

// The current path, as text that grows and shrinks: "spec.containers[0]".
class Trail {
 public:
  explicit Trail(std::vector<std::string>* unknown) : unknown_(unknown) {}

  std::size_t enter(std::string_view key) {
    const std::size_t before = text_.size();
    if (unknown_ == nullptr) return before;
    if (!text_.empty()) text_ += '.';
    text_ += key;
    return before;
  }
  std::size_t enter(std::size_t index) {
    const std::size_t before = text_.size();
    if (unknown_ != nullptr) fmt::format_to(std::back_inserter(text_), "[{}]", index);
    return before;
  }
  void leave(std::size_t before) { text_.resize(before); }
  bool atRoot() const { return text_.empty(); }
  const std::string& text() const { return text_; }

  void tell(std::string_view key) {
    if (unknown_ == nullptr || unknown_->size() >= kMaxTold || bytes_ >= kMaxToldBytes) return;
    const std::size_t before = enter(key);
    bytes_ += text_.size();
    unknown_->push_back(text_);
    leave(before);
  }

 private:
  std::vector<std::string>* unknown_;
  std::string text_;
  std::size_t bytes_ = 0;
};

class Pruning {
 public:
  explicit Pruning(std::vector<std::string>* unknown) : trail_(unknown) {}

  std::optional<Value> prune(const Value& value, const SchemaNode* node, bool resource, int depth) {
    if (depth > kMaxValueDepth) {
      throw DecodeError({.path = trail_.text()},
                        fmt::format("nested deeper than {} levels", kMaxValueDepth));
    }
    const bool keep = node != nullptr && node->preserveUnknown;
    if (value.isObject()) return pruneObject(value.asObject(), node, keep, resource, depth);
    if (value.isArray()) return pruneArray(value.asArray(), node, keep, depth);
    return std::nullopt;
  }

 private:
  std::optional<Value> pruneObject(const Value::Object& object, const SchemaNode* node, bool keep,
                                   bool resource, int depth) {
    ValueRebuild<Value::Object> rebuild(object);
    for (const auto& entry : object) {
      const auto& [key, member] = entry;
      if (resource && isMetaField(key)) {
        rebuild.keep(entry);
        continue;
      }
      const SchemaNode* inside = node != nullptr ? node->property(key) : nullptr;
      const bool known = inside != nullptr || (node != nullptr && node->hasAdditional);
      if (!known) {
        if (keep) {
          rebuild.keep(entry);
          continue;
        }
        if (!isMetaField(key) || !trail_.atRoot()) trail_.tell(key);
        rebuild.drop();
        continue;
      }
      if (inside == nullptr) inside = node->additional;
      const std::size_t before = trail_.enter(key);
      auto pruned = prune(member, inside, inside != nullptr && inside->embeddedResource, depth + 1);
      trail_.leave(before);
      if (pruned) {
        rebuild.put(key, std::move(*pruned));
      } else {
        rebuild.keep(entry);
      }
    }
    if (!rebuild.changed()) return std::nullopt;
    return rebuild.done();
  }

  std::optional<Value> pruneArray(const Value::Array& array, const SchemaNode* node, bool keep,
                                  int depth) {
    const SchemaNode* items = node != nullptr ? node->items : nullptr;
    // A kept array whose items have no schema stays as it is. Items that have one are pruned
    // inside.
    if (keep && items == nullptr) return std::nullopt;
    ValueRebuild<Value::Array> rebuild(array);
    std::size_t position = 0;
    for (const Value& item : array) {
      const std::size_t here = position++;
      const std::size_t before = trail_.enter(here);
      auto pruned =
          keep ? pruneKept(item, *items, depth + 1)
               : prune(item, items, items != nullptr && items->embeddedResource, depth + 1);
      trail_.leave(before);
      if (pruned) {
        rebuild.put(std::move(*pruned));
      } else {
        rebuild.keep(item);
      }
    }
    if (!rebuild.changed()) return std::nullopt;
    return rebuild.done();
  }

  // An element of an array that keeps unknown fields keeps them too.
  std::optional<Value> pruneKept(const Value& item, const SchemaNode& node, int depth) {
    if (item.isObject()) {
      return pruneObject(item.asObject(), &node, true, node.embeddedResource, depth);
    }
    if (item.isArray()) return pruneArray(item.asArray(), &node, true, depth);
    return std::nullopt;
  }

  Trail trail_;
};

class Coercing {
 public:
  explicit Coercing(std::vector<std::string>* unknown) : unknown_(unknown) {}

  std::optional<Value> coerce(const Value& value, const SchemaNode& node, bool resource,
                              const ErrorPath& path) {
    if (!resource && !node.hasEmbedded) return std::nullopt;
    if (value.isObject()) return coerceObject(value.asObject(), node, resource, path);
    if (!value.isArray() || node.items == nullptr) return std::nullopt;
    ValueRebuild<Value::Array> rebuild(value.asArray());
    std::size_t position = 0;
    for (const Value& item : value.asArray()) {
      const std::size_t here = position++;
      auto coerced = coerce(item, *node.items, node.items->embeddedResource, path.index(here));
      if (coerced) {
        rebuild.put(std::move(*coerced));
      } else {
        rebuild.keep(item);
      }
    }
    if (!rebuild.changed()) return std::nullopt;
    return rebuild.done();
  }

 private:
  std::optional<Value> coerceObject(const Value::Object& object, const SchemaNode& node,
                                    bool resource, const ErrorPath& path) {
    ValueRebuild<Value::Object> rebuild(object);
    for (const auto& entry : object) {
      const auto& [key, member] = entry;
      std::optional<Value> coerced;
      if (resource && isMetaField(key)) {
        const std::string place = path.child(key).str();
        if (key == "metadata") {
          coerced = coercedMetadata(member, place, unknown_);
        } else if (!member.isString()) {
          throw DecodeError({.path = place}, "must be a string");
        }
      } else if (const SchemaNode* inside = node.property(key)) {
        coerced = coerce(member, *inside, inside->embeddedResource, path.child(key));
      } else if (node.additional != nullptr) {
        coerced =
            coerce(member, *node.additional, node.additional->embeddedResource, path.key(key));
      }
      if (coerced) {
        rebuild.put(key, std::move(*coerced));
      } else {
        rebuild.keep(entry);
      }
    }
    if (!rebuild.changed()) return std::nullopt;
    return rebuild.done();
  }

  std::vector<std::string>* unknown_;
};

}  // namespace

std::optional<Value> prunedValue(const Value& value, const SchemaNode* node, bool root,
                                 std::vector<std::string>* unknown) {
  const std::size_t first = unknown != nullptr ? unknown->size() : 0;
  const bool resource = root || (node != nullptr && node->embeddedResource);
  auto result = Pruning(unknown).prune(value, node, resource, 0);
  if (unknown != nullptr) {
    std::sort(unknown->begin() + static_cast<std::ptrdiff_t>(first), unknown->end());
  }
  return result;
}

std::optional<Value> coercedValue(const Value& value, const SchemaNode& node, bool root,
                                  std::vector<std::string>* unknown) {
  return Coercing(unknown).coerce(value, node, root || node.embeddedResource, ErrorPath());
}

std::optional<Value> coercedMetadata(const Value& metadata, std::string_view path,
                                     std::vector<std::string>* unknown) {
  if (metadata.isNull()) return Value(Value::Object());
  std::vector<std::string> problems;
  metav1::ObjectMeta meta;
  try {
    meta = fromUnstructured<metav1::ObjectMeta>(Unstructured(metadata), {.problems = &problems});
  } catch (const DecodeError& error) {
    DecodeError::Where where = error.where();
    where.path = where.path.empty() ? std::string(path) : fmt::format("{}.{}", path, where.path);
    throw error.withWhere(std::move(where));
  }
  if (unknown != nullptr) {
    for (const std::string& problem : problems) {
      // unknown field "foo"
      const std::size_t quote = problem.find('"');
      const std::size_t end = problem.rfind('"');
      if (quote == std::string::npos || end <= quote || unknown->size() >= kMaxTold) continue;
      unknown->push_back(fmt::format("{}.{}", path, problem.substr(quote + 1, end - quote - 1)));
    }
  }
  Value again = toUnstructured(meta).object;
  if (again == metadata) return std::nullopt;
  return again;
}

}  // namespace kube::apiserver
