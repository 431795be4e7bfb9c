// JSON merge patch (RFC 7386): an object of changes, in which null deletes.
//
//   Value after = applyMergePatch(before, parseJson(R"({"spec":{"replicas":3,"paused":null}})"));
//   Value patch = createMergePatch(before, after);
//
// Objects are merged member by member; everything else is replaced, including arrays. So a patch
// cannot set a member to null, and createMergePatch is exact for documents without nulls.
//
// `kubectl apply` sends a three-way patch for custom resources. It changes `current` into
// `modified`, but leaves alone everything that neither `original`, the configuration applied last,
// nor `modified` mentions.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include "kube/codec/patch/patch_precondition.h"
#include "kube/meta/value.h"

namespace kube {

Value applyMergePatch(const Value& document, const Value& patch);

/// The patch that turns `original` into `modified`; an empty object if they are equal. Returns
/// `modified` itself for values other than objects.
Value createMergePatch(const Value& original, const Value& modified);

/// Null counts as an empty object. Throws PatchError if a precondition fails, or for a conflict:
/// the new configuration both deletes and adds the same part, which cannot happen.
Value createThreeWayJsonMergePatch(const Value& original, const Value& modified,
                                   const Value& current,
                                   const PatchPreconditions& preconditions = {});

/// True if two JSON merge patches would change the same part differently.
bool hasConflicts(const Value& left, const Value& right);

}  // namespace kube
