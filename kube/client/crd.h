// CustomResourceDefinitions from C++ structs, and onto a server.
//
//   auto definition = kube::crd<samplecrdv1::Network>();
//   kube::ensureCrd(clients, definition, {.timeout = 30s}, stop);      // until it is served
//   auto both = kube::crd<v1::Network, v1alpha1::Network>();           // the first is stored
//
// The schema is made from the tables of the kind and its parts; what a table does not say comes
// from kube::SchemaOf (kube/meta/schema_notes.h). Types that `kubexx gen` has made carry all that
// their definition said, and give it back.
//
// A type becomes the schema that objects of it satisfy: kube::Value any JSON, RawExtension and
// Unstructured objects with any fields, Quantity and IntOrString a number or text. A struct that
// holds itself has no finite schema: where it comes again, anything is allowed.
//
// Errors: Error for types that no definition can be made of; of ensureCrd, ApiError where the
// server refuses, and TimeoutError.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <chrono>
#include <span>
#include <stop_token>

#include "kube/api/apiextensions/v1.h"
#include "kube/base/string.h"
#include "kube/client/clientset.h"
#include "kube/meta/type_info.h"
#include "kube/rest/rest_client.h"

namespace kube {

/// Of the versions of one kind, of which the first is stored, unless they come from a definition
/// that said another.
apiextensionsv1::CustomResourceDefinition crdOf(std::span<const TypeInfo* const> versions);

template <Described... Versions>
requires(sizeof...(Versions) > 0) apiextensionsv1::CustomResourceDefinition crd() {
  const TypeInfo* const versions[] = {&TypeOf<Versions>::info...};
  return crdOf(versions);
}

/// The schema alone: of a kind, as a version has it, or of a part.
apiextensionsv1::JSONSchemaProps schemaOf(const TypeInfo& type);

struct EnsureCrdOptions {
  /// For the definition to be established; 0: for ever.
  std::chrono::nanoseconds timeout = std::chrono::minutes(1);
};

/// Creates the definition, or changes the one that is there to it, and waits until its objects are
/// served. What others have set stays: labels and annotations, and how versions are converted,
/// unless `crd` says it. Nothing is sent where there is nothing to change. Throws Error at once
/// where the server does not accept its names, or is deleting it.
apiextensionsv1::CustomResourceDefinition ensureCrd(
    const RestClient& rest, const apiextensionsv1::CustomResourceDefinition& crd,
    const EnsureCrdOptions& options = {}, const std::stop_token& stop = {});
inline apiextensionsv1::CustomResourceDefinition ensureCrd(
    const Clientset& clients, const apiextensionsv1::CustomResourceDefinition& crd,
    const EnsureCrdOptions& options = {}, const std::stop_token& stop = {}) {
  return ensureCrd(clients.rest(), crd, options, stop);
}

}  // namespace kube
