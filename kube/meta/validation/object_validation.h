// Validation of an object's metadata, as an API server does it on create and update.
//
//   FieldErrors errors = validateObjectMeta(pod.metadata, {.namespaced = true});
//   // metadata.name: Invalid value: "Web": a lowercase RFC 1123 subdomain must consist of ...
//
// The rules, their order and their messages are apimachinery's.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "kube/meta/v1.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/validation/validation.h"

namespace kube::validation {

/// The greatest total size of annotations, keys and values.
inline constexpr std::size_t kTotalAnnotationSizeLimit = 256 * 1024;
inline constexpr std::size_t kFieldManagerMaxLength = 128;

inline constexpr std::string_view kFinalizerOrphanDependents = "orphan";
inline constexpr std::string_view kFinalizerDeleteDependents = "foregroundDeletion";

/// The rule for the names of a resource. With `prefix`, the name will get a suffix.
using NameRule = std::function<Reasons(std::string_view name, bool prefix)>;

/// The rule of most resources.
Reasons nameIsDNSSubdomain(std::string_view name, bool prefix);
/// The rule of Namespaces.
Reasons nameIsDNSLabel(std::string_view name, bool prefix);
/// The rule of Services.
Reasons nameIsDNS1035Label(std::string_view name, bool prefix);
/// The rule of RBAC's resources.
Reasons nameIsPathSegment(std::string_view name, bool prefix);

struct ObjectMetaRules {
  bool namespaced = true;
  NameRule name = nameIsDNSSubdomain;
};

/// Validates an object to be created, after its name was generated.
FieldErrors validateObjectMeta(const metav1::ObjectMeta& meta, const ObjectMetaRules& rules = {},
                               const ErrorPath& path = ErrorPath("metadata"));
/// Validates an object that replaces another.
FieldErrors validateObjectMetaUpdate(const metav1::ObjectMeta& meta, const metav1::ObjectMeta& old,
                                     const ErrorPath& path = ErrorPath("metadata"));

FieldErrors validateLabels(const Map<String>& labels, const ErrorPath& path);
FieldErrors validateAnnotations(const Map<String>& annotations, const ErrorPath& path);
FieldErrors validateFinalizers(const List<String>& finalizers, const ErrorPath& path);
FieldErrors validateOwnerReferences(const List<metav1::OwnerReference>& references,
                                    const ErrorPath& path);
FieldErrors validateManagedFields(const List<metav1::ManagedFieldsEntry>& entries,
                                  const ErrorPath& path);
FieldErrors validateFieldManager(std::string_view name, const ErrorPath& path);
FieldErrors validateLabelSelector(const metav1::LabelSelector& selector, const ErrorPath& path);
FieldErrors validateConditions(const List<metav1::Condition>& conditions, const ErrorPath& path);

}  // namespace kube::validation
