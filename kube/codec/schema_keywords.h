// OpenAPI keywords for the facts of a type's table, for code that makes schemas from tables.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string_view>

#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// The pattern of a Quantity in a definition.
inline constexpr std::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

/// Adds x-kubernetes-list-type and similar keywords: the facts about a field that patches and apply
/// need.
void addMergeKeywords(Value& schema, const MergeInfo& merge);

}  // namespace kube
