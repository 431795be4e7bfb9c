// The RestMapper of the built-in kinds: for what must know them without asking a server.
//
//   builtInRestMapper().kindFor({.resource = "deploy"});      // apps/v1, Kind=Deployment
//   builtInCategories().expand("all");
//
// It understands short names. Kinds that current releases still serve come before retired ones, and
// groups in the order that kube-apiserver gives them. Using this links all kinds.
//
// Thread safety: any thread may use it at any time.
#pragma once

#include <span>
#include <string_view>

#include "kube/meta/mapping/rest_mapper.h"
#include "kube/meta/mapping/shortcut_expander.h"

namespace kube {

const RestMapper& builtInRestMapper();

const CategoryExpander& builtInCategories();

/// The groups of the built-in kinds in the order of kube-apiserver's discovery: by descending
/// priority of its APIServices. Extension servers come last.
std::span<const std::string_view> builtInGroups() noexcept;

}  // namespace kube
