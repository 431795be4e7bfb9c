// Strategic merge patch: Kubernetes' merge patch. The tables tell how lists are merged.
//
//   auto after = applyStrategicMergePatch(deployment, R"({"spec":{"template":{"spec":{
//       "containers":[{"name":"web","image":"nginx:1.27"}]}}}})");   // the others stay
//   Value patch = createStrategicMergePatch(before, after, TypeOf<appsv1::Deployment>::info);
//
// Objects are merged member by member; null deletes. A list whose field has a merge key is merged
// element by element, matched by that key; a list of scalars with the merge strategy is united; any
// other list is replaced. Values of a free form (RawExtension, JSON) are replaced too. A patch may
// contain these directives, and created patches contain them as needed:
//   $patch: replace            takes this object instead of merging it; as a list element of its
//                              own, takes the rest of the list instead of merging that
//   $patch: delete             empties the object, or deletes the element with its merge key
//   $retainKeys: [...]         deletes all members but these
//   $setElementOrder/FIELD     the order of that list's elements: names, or the scalars themselves.
//                              Elements that only the server has keep their place as well as
//                              possible
//   $deleteFromPrimitiveList/FIELD     deletes scalars
// The result of applying a patch contains no directives.
//
// Custom resources have no merge keys, and the API server accepts no such patches for them: see
// createTwoWayMergePatch in kube/codec/patch/patch.h, which knows the difference.
//
// Errors: PatchError, with the texts of apimachinery if it has one. A patch text that is not a JSON
// object is a DecodeError, and so is a typed result that does not fit the type.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string_view>

#include "kube/codec/json.h"
#include "kube/codec/patch/patch_precondition.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// `schema` describes the object. Throws PatchError also for a schema without fields, which is that
/// of Unstructured.
Value applyStrategicMergePatch(const Value& object, const Value& patch, const TypeInfo& schema);

AnyObject applyStrategicMergePatch(const AnyObject& object, std::string_view patchJson);

template <Described T>
T applyStrategicMergePatch(const T& object, std::string_view patchJson) {
  return fromUnstructured<T>(Unstructured(applyStrategicMergePatch(
      toUnstructured(object).object, parseJson(patchJson), TypeOf<T>::info)));
}

/// The patch that turns `original` into `modified`; an empty object if they are equal. Null counts
/// as an empty object.
Value createStrategicMergePatch(const Value& original, const Value& modified,
                                const TypeInfo& schema,
                                const PatchPreconditions& preconditions = {});

struct ThreeWayOptions {
  /// Overwrites parts of `current` that were changed differently since `original`. False: such a
  /// part is a PatchError for a conflict.
  bool overwrite = true;
  PatchPreconditions preconditions = {};
};

/// The patch that `kubectl apply` sends: it changes `current` into `modified`, but leaves alone
/// everything that neither `original`, the configuration applied last, nor `modified` mentions.
Value createThreeWayStrategicMergePatch(const Value& original, const Value& modified,
                                        const Value& current, const TypeInfo& schema,
                                        const ThreeWayOptions& options = {});

/// True if two strategic merge patches would change the same part differently. (For JSON merge
/// patches, see kube/codec/patch/merge_patch.h.)
bool hasConflicts(const Value& left, const Value& right, const TypeInfo& schema);

}  // namespace kube
