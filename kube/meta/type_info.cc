#include "kube/meta/type_info.h"

#include <algorithm>

namespace kube {

const FieldInfo* TypeInfo::field(std::string_view jsonName) const noexcept {
  const auto at = std::ranges::find(fields, jsonName, &FieldInfo::name);
  return at != fields.end() ? &*at : nullptr;
}

std::string ResourceInfo::apiVersion() const {
  if (group.empty()) return std::string(version);
  return std::string(group).append("/").append(version);
}

}  // namespace kube
