// The RestMapper of the built-in kinds, for lookups without a server.
//
//   builtInRestMapper().kindFor({.resource = "deploy"});      // apps/v1, Kind=Deployment
//   builtInCategories().expand("all");
//
// It expands short names. Kinds that current releases still serve precede retired ones. Groups are
// in the order of kube-apiserver. Using this links all kinds.
//
// Thread safety: lookups may be made from any thread at any time.
#pragma once

#include <span>
#include <string_view>

#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/mapping/shortcut_expander.h"

namespace kube {

const RestMapper& builtInRestMapper();

const CategoryExpander& builtInCategories();

/// The groups of the built-in kinds in the order of kube-apiserver's discovery: by descending
/// priority of their APIServices. Extension servers follow at the end.
std::span<const std::string_view> builtInGroups() noexcept;

}  // namespace kube
