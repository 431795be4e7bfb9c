#include "kube/apiserver/schema/schema_ratchet.h"

namespace kube::apiserver {

bool isUnchanged(const Value& value, const Value& old, const SchemaNode* structure,
                 std::uint64_t& visits) {
  if (++visits > kMaxVisits) return false;
  if (value.isObject() && old.isObject()) {
    if (value.asObject().size() != old.asObject().size() || structure == nullptr) return false;
    for (const auto& [key, member] : value.asObject()) {
      const auto at = old.asObject().find(key);
      const SchemaNode* inside = structure->property(key);
      if (inside == nullptr) inside = structure->additional;
      if (at == old.asObject().end() || inside == nullptr) return false;
      if (!isUnchanged(member, at->value, inside, visits)) return false;
    }
    return true;
  }
  if (value.isArray() && old.isArray() && structure != nullptr && structure->items != nullptr &&
      structure->listType == SchemaNode::ListType::Map) {
    if (value.asArray().size() != old.asArray().size()) return false;
    const OldElements elements(old.asArray(), *structure);
    for (const Value& item : value.asArray()) {
      const Value* before = elements.find(item);
      if (before == nullptr || !isUnchanged(item, *before, structure->items, visits)) return false;
    }
    return true;
  }
  return value == old;
}

}  // namespace kube::apiserver
