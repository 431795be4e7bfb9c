// Strategic merge patch: Kubernetes' merge patch, which knows from the tables how lists are merged.
//
//   auto after = applyStrategicMergePatch(deployment, R"({"spec":{"template":{"spec":{
//       "containers":[{"name":"web","image":"nginx:1.27"}]}}}})");   // the others stay
//   Value patch = createStrategicMergePatch(before, after, TypeOf<appsv1::Deployment>::info);
//
// Objects are merged member by member, null deletes. A list whose field has a merge key is merged
// element by element, known by that key; a list of scalars with the merge strategy is united; any
// other list is replaced. Values of a free form (RawExtension, JSON) are replaced too. In a patch,
//   $patch: replace            takes this object instead of merging it; in an element of its own,
//   the
//                              rest of the list instead of merging that
//   $patch: delete             empties the object, or deletes the element with its merge key
//   $retainKeys: [...]         deletes all members but these
//   $setElementOrder/FIELD     the order of that list's elements: names, or the scalars themselves.
//                              Elements that only the server has keep their place as well as
//                              possible
//   $deleteFromPrimitiveList/FIELD     deletes scalars
// are understood, and created as needed. No directive stays behind in what comes out of applying.
//
// Custom resources have no merge keys, and the API server takes no such patches for them: see
// createTwoWayMergePatch in kube/codec/patch/patch.h, which knows the difference.
//
// Errors: PatchError, with the texts of apimachinery where it has one. A patch text that is no JSON
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

/// `schema` describes the object. Throws PatchError also for a schema without fields, that of
/// Unstructured.
Value applyStrategicMergePatch(const Value& object, const Value& patch, const TypeInfo& schema);

AnyObject applyStrategicMergePatch(const AnyObject& object, std::string_view patchJson);

template <Described T>
T applyStrategicMergePatch(const T& object, std::string_view patchJson) {
  return fromUnstructured<T>(Unstructured(applyStrategicMergePatch(
      toUnstructured(object).object, parseJson(patchJson), TypeOf<T>::info)));
}

/// What turns `original` into `modified`; an empty object when nothing does. Null counts as an
/// empty object.
Value createStrategicMergePatch(const Value& original, const Value& modified,
                                const TypeInfo& schema,
                                const PatchPreconditions& preconditions = {});

struct ThreeWayOptions {
  /// Also where `current` was changed differently since `original`; otherwise that is a PatchError
  /// for a conflict.
  bool overwrite = true;
  PatchPreconditions preconditions = {};
};

/// What `kubectl apply` sends: changes `current` into `modified`, except that it leaves alone what
/// neither `original`, the configuration applied last, nor `modified` mentions.
Value createThreeWayStrategicMergePatch(const Value& original, const Value& modified,
                                        const Value& current, const TypeInfo& schema,
                                        const ThreeWayOptions& options = {});

/// Whether two strategic merge patches would change the same thing differently. (For JSON merge
/// patches, see kube/codec/patch/merge_patch.h.)
bool hasConflicts(const Value& left, const Value& right, const TypeInfo& schema);

}  // namespace kube
