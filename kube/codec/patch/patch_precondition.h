// Checks of created patches: keys that they must not change.
//
//   createThreeWayJsonMergePatch(
//       original, modified, current,
//       {requireKeyUnchanged("kind"), requireMetadataKeyUnchanged("name")});
//
// Thread safety: a precondition is called by the thread that creates the patch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kube/meta/value.h"

namespace kube {

/// True if a patch, which is an object of changes, is acceptable.
using PatchPrecondition = std::function<bool(const Value& patch)>;
using PatchPreconditions = std::vector<PatchPrecondition>;

PatchPrecondition requireKeyUnchanged(std::string key);
/// The same for a key of `metadata`.
PatchPrecondition requireMetadataKeyUnchanged(std::string key);

/// Throws PatchError if a precondition fails.
void checkPreconditions(const Value& patch, const PatchPreconditions& preconditions);

}  // namespace kube
