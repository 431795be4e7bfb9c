// CustomResourceDefinitions as an API server handles them: defaults, validation, acceptance of
// names, and versions compiled for serving requests.
//
//   setDefinitionDefaults(crd);
//   prepareDefinition(crd, old);                       // sets the fields that belong to the server
//   throwIfAny(validateDefinition(crd, old));
//   TakenNames taken;
//   for (const auto& other : definitionsOfGroup) taken.add(other.status->acceptedNames.read());
//   acceptNames(crd, taken, Time::now());              // status: acceptedNames and conditions
//   std::vector<CustomVersion> versions = compileVersions(crd);
//
// Rules and messages are those of apiextensions-apiserver, with two differences: conversion by
// webhook is refused, since the server calls no webhooks, and CEL rules are not evaluated. A
// definition is established as soon as its names are accepted.
//
// Thread safety: every function may be called from any thread; the results are immutable.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/api/apiextensions/v1.h"
#include "kube/apiserver/custom/custom_scale.h"
#include "kube/apiserver/schema/structural_schema.h"
#include "kube/base/list.h"
#include "kube/base/string.h"
#include "kube/meta/time.h"
#include "kube/meta/validation/field_error.h"

namespace kube::apiserver {

/// The annotation that protected groups (*.k8s.io, *.kubernetes.io) need: a URL, or a text that
/// starts with "unapproved".
inline constexpr std::string_view kApiApprovedAnnotation = "api-approved.kubernetes.io";

/// Keeps a definition until its objects are deleted.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/// Sets singular, listKind, conversion, and the stored versions.
void setDefinitionDefaults(apiextensionsv1::CustomResourceDefinition& crd);

/// Prepares a definition that is created (`old` is null) or replaces `old`: the status is the
/// server's, the generation counts changes of the spec, and the storage version is one of the
/// stored versions.
void prepareDefinition(apiextensionsv1::CustomResourceDefinition& crd,
                       const apiextensionsv1::CustomResourceDefinition* old);

/// Checks a definition, with its defaults set. Paths are those of an API server: a part that all
/// versions have in common is reported as the definition's own, as spec.validation.openAPIV3Schema.
FieldErrors validateDefinition(const apiextensionsv1::CustomResourceDefinition& crd,
                               const apiextensionsv1::CustomResourceDefinition* old = nullptr);

/// Warnings for formats in the schemas that are not checked, as `unrecognized format "foo"`.
/// Formats that `old` has too are left out.
std::vector<std::string> definitionWarnings(
    const apiextensionsv1::CustomResourceDefinition& crd,
    const apiextensionsv1::CustomResourceDefinition* old = nullptr);

/// Names that the other definitions of a group have.
struct TakenNames {
  std::set<std::string, std::less<>> resources = {};  // plural, singular and short names
  std::set<std::string, std::less<>> kinds = {};      // and list kinds

  void add(const apiextensionsv1::CustomResourceDefinitionNames& accepted);
};

/// Sets status.acceptedNames and the conditions NamesAccepted and Established. If a name is taken,
/// the one accepted before stays, and NamesAccepted is False with a reason such as PluralConflict.
/// Definitions in protected groups also get the condition KubernetesAPIApprovalPolicyConformant.
void acceptNames(apiextensionsv1::CustomResourceDefinition& crd, const TakenNames& others,
                 Time now);

/// True if a condition such as "Established" or "NamesAccepted" is present and True.
bool isConditionTrue(const apiextensionsv1::CustomResourceDefinition& crd, std::string_view type);

/// A version of a custom resource, ready to be served.
struct CustomVersion {
  String version;
  bool served = false;
  bool storage = false;
  bool deprecated = false;
  String warning = {};  // for clients that use it, if it is deprecated
  std::shared_ptr<const StructuralSchema> schema;
  bool statusSubresource = false;
  std::optional<ScalePaths> scale = {};
  List<apiextensionsv1::CustomResourceColumnDefinition> columns = {};  // Age if it declares none
  std::vector<String> selectableFields = {};                           // "spec.color"
};

/// Compiles the versions, in the definition's order. Throws ValidationError for an invalid schema.
std::vector<CustomVersion> compileVersions(const apiextensionsv1::CustomResourceDefinition& crd);

}  // namespace kube::apiserver
