// JSON merge patch (RFC 7386): an object of what changes, in which null means gone.
//
//   Value after = applyMergePatch(before, parseJson(R"({"spec":{"replicas":3,"paused":null}})"));
//   Value patch = createMergePatch(before, after);
//
// Objects are merged member by member; everything else, arrays too, is replaced. So a patch cannot
// set a member to null, and createMergePatch is exact for documents without nulls.
//
// A three-way patch is what `kubectl apply` sends for custom resources: it changes `current` into
// `modified`, except that it leaves alone what neither `original`, the configuration applied last,
// nor `modified` mentions.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include "kube/codec/patch/patch_precondition.h"
#include "kube/meta/value.h"

namespace kube {

Value applyMergePatch(const Value& document, const Value& patch);

/// What turns `original` into `modified`; an empty object when nothing does. For other values than
/// objects, `modified` itself.
Value createMergePatch(const Value& original, const Value& modified);

/// Null counts as an empty object. Throws PatchError when a precondition fails, and for a conflict:
/// something both deleted by the new configuration and added to it, which cannot be.
Value createThreeWayJsonMergePatch(const Value& original, const Value& modified,
                                   const Value& current,
                                   const PatchPreconditions& preconditions = {});

/// Whether two JSON merge patches would change the same thing differently.
bool hasConflicts(const Value& left, const Value& right);

}  // namespace kube
