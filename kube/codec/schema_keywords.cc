#include "kube/codec/schema_keywords.h"

#include <span>

namespace kube {

namespace {

Value strings(std::span<const std::string_view> texts) {
  Value list = Value::Array();
  for (const std::string_view text : texts) list.array().push_back(text);
  return list;
}

std::string_view nameOf(MergeInfo::ListType type) {
  switch (type) {
    case MergeInfo::ListType::Unset:
      break;
    case MergeInfo::ListType::Atomic:
      return "atomic";
    case MergeInfo::ListType::Set:
      return "set";
    case MergeInfo::ListType::Map:
      return "map";
  }
  return "";
}

}  // namespace

void addMergeKeywords(Value& schema, const MergeInfo& merge) {
  if (merge.listType != MergeInfo::ListType::Unset) {
    schema["x-kubernetes-list-type"] = nameOf(merge.listType);
  }
  if (!merge.listMapKeys.empty()) schema["x-kubernetes-list-map-keys"] = strings(merge.listMapKeys);
  if (merge.atomicMap) schema["x-kubernetes-map-type"] = "atomic";
  if (merge.granular) schema["x-kubernetes-map-type"] = "granular";
  if (!merge.patchStrategy.empty()) schema["x-kubernetes-patch-strategy"] = merge.patchStrategy;
  if (!merge.patchMergeKey.empty()) schema["x-kubernetes-patch-merge-key"] = merge.patchMergeKey;
}

}  // namespace kube
