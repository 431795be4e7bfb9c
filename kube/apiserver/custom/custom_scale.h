// The scale subresource of custom resources: an autoscaling/v1 Scale, read and written through the
// paths that a CustomResourceDefinition names.
//
//   ScalePaths paths{".spec.replicas", ".status.replicas", ".status.selector"};
//   CustomScale current = readScale(object, paths);
//   current.scale.spec->replicas = 5;
//   Value changed = writeScale(object, current.scale, paths);
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include "kube/api/autoscaling/v1.h"
#include "kube/base/string.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

struct ScalePaths {
  String specReplicas;        // ".spec.replicas"
  String statusReplicas;      // ".status.replicas"
  String labelSelector = {};  // empty: none

  bool operator==(const ScalePaths&) const = default;
};

struct CustomScale {
  autoscalingv1::Scale scale = {};
  /// False if the object has no replicas. An API server answers a GET of such a scale with an
  /// internal error, `the spec replicas field ".spec.replicas" does not exist`.
  bool hasReplicas = false;
};

/// Throws DecodeError if a path leads to a value of another type.
CustomScale readScale(const Value& object, const ScalePaths& paths);

/// Returns the object with the replicas of the Scale and its resourceVersion, if it has one, so
/// that the update is refused if the object has changed. Throws DecodeError like readScale().
Value writeScale(const Value& object, const autoscalingv1::Scale& scale, const ScalePaths& paths);

/// The checks of an API server on every write of an object with a scale, and of its status.
FieldErrors validateScaleSpec(const Value& object, const ScalePaths& paths);
FieldErrors validateScaleStatus(const Value& object, const ScalePaths& paths);

}  // namespace kube::apiserver
