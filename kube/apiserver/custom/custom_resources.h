// CustomResourceDefinitions, as an API server takes them in: defaults, what is wrong with one,
// whether its names are free, and its versions in the form that requests are served with.
//
//   setDefinitionDefaults(crd);
//   prepareDefinition(crd, old);                       // what only the server may set
//   throwIfAny(validateDefinition(crd, old));
//   TakenNames taken;
//   for (const auto& other : definitionsOfGroup) taken.add(other.status->acceptedNames.read());
//   acceptNames(crd, taken, Time::now());              // status: acceptedNames and conditions
//   std::vector<CustomVersion> versions = compileVersions(crd);
//
// Rules and words are those of apiextensions-apiserver. Two things differ: conversion by webhook is
// refused, as there is nobody to call, and rules in CEL are not looked into. A definition is
// established as soon as its names are accepted.
//
// Thread safety: all functions may be called from any thread; what they give is immutable.
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

/// Protected groups (*.k8s.io, *.kubernetes.io) need it: a URL, or a text that starts with
/// "unapproved".
inline constexpr std::string_view kApiApprovedAnnotation = "api-approved.kubernetes.io";

/// Keeps a definition until its objects are gone.
inline constexpr std::string_view kCleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/// singular, listKind, conversion, and the versions stored.
void setDefinitionDefaults(apiextensionsv1::CustomResourceDefinition& crd);

/// Of a definition to be created (`old` is null) or to replace `old`: the status is the server's,
/// the generation counts changes of the spec, and the storage version is among those stored.
void prepareDefinition(apiextensionsv1::CustomResourceDefinition& crd,
                       const apiextensionsv1::CustomResourceDefinition* old);

/// With its defaults set. Paths are those of an API server: what all versions have in common is
/// told as the definition's own, as spec.validation.openAPIV3Schema.
FieldErrors validateDefinition(const apiextensionsv1::CustomResourceDefinition& crd,
                               const apiextensionsv1::CustomResourceDefinition* old = nullptr);

/// Formats in its schemas that nobody checks, as `unrecognized format "foo"`: only those that `old`
/// has not.
std::vector<std::string> definitionWarnings(
    const apiextensionsv1::CustomResourceDefinition& crd,
    const apiextensionsv1::CustomResourceDefinition* old = nullptr);

/// Names that other definitions of a group have.
struct TakenNames {
  std::set<std::string, std::less<>> resources = {};  // plural, singular and short names
  std::set<std::string, std::less<>> kinds = {};      // and list kinds

  void add(const apiextensionsv1::CustomResourceDefinitionNames& accepted);
};

/// Sets status.acceptedNames and the conditions NamesAccepted and Established. A name that is taken
/// keeps the one accepted before, and NamesAccepted is False with a reason such as PluralConflict.
/// Those of protected groups get KubernetesAPIApprovalPolicyConformant besides.
void acceptNames(apiextensionsv1::CustomResourceDefinition& crd, const TakenNames& others,
                 Time now);

/// Whether a condition is there and True: "Established", "NamesAccepted".
bool isConditionTrue(const apiextensionsv1::CustomResourceDefinition& crd, std::string_view type);

/// A version of a custom resource, for a server to serve.
struct CustomVersion {
  String version;
  bool served = false;
  bool storage = false;
  bool deprecated = false;
  String warning = {};  // what to tell those who use it, if deprecated
  std::shared_ptr<const StructuralSchema> schema;
  bool statusSubresource = false;
  std::optional<ScalePaths> scale = {};
  List<apiextensionsv1::CustomResourceColumnDefinition> columns = {};  // Age, if it has none
  std::vector<String> selectableFields = {};                           // "spec.color"
};

/// In the definition's order. Throws ValidationError for a schema that is not valid.
std::vector<CustomVersion> compileVersions(const apiextensionsv1::CustomResourceDefinition& crd);

}  // namespace kube::apiserver
