#include "kube/codec/patch/patch_precondition.h"

#include <utility>

#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"

namespace kube {

PatchPrecondition requireKeyUnchanged(std::string key) {
  return [key = std::move(key)](const Value& patch) { return !patch.asObject().contains(key); };
}

PatchPrecondition requireMetadataKeyUnchanged(std::string key) {
  return [key = std::move(key)](const Value& patch) {
    return !patch["metadata"].asObject().contains(key);
  };
}

void checkPreconditions(const Value& patch, const PatchPreconditions& preconditions) {
  for (const PatchPrecondition& holds : preconditions) {
    if (holds(patch)) continue;
    throw PatchError(PatchError::Reason::Precondition, "precondition failed for: " + toJson(patch));
  }
}

}  // namespace kube
