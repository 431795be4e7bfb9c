// Words of OpenAPI schemas that say what a table says: for what makes schemas from tables.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string_view>

#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// What a definition has as the pattern of a Quantity.
inline constexpr std::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

/// x-kubernetes-list-type and the like: what patches and apply need to know of a field.
void addMergeKeywords(Value& schema, const MergeInfo& merge);

}  // namespace kube
