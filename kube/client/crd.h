// Makes CustomResourceDefinitions from C++ structs, and installs them on a server.
//
//   auto definition = kube::crd<samplecrdv1::Network>();
//   kube::ensureCrd(clients, definition, {.timeout = 30s}, stop);      // waits until it is served
//   auto both = kube::crd<v1::Network, v1alpha1::Network>();           // the first is stored
//
// The schema is made from the tables of the kind and its parts; kube::SchemaOf adds facts that a
// table does not have (kube/meta/schema_notes.h). Types that `kubexx gen` has made contain
// everything that their definition said, and return it.
//
// A type becomes the schema that its objects satisfy: kube::Value allows any JSON, RawExtension and
// Unstructured allow objects with any fields, Quantity and IntOrString allow a number or text. A
// struct that contains itself has no finite schema: its inner occurrence allows anything.
//
// Errors: Error for types that cannot become a definition. ensureCrd() throws ApiError if the
// server refuses, and TimeoutError.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <chrono>
#include <span>
#include <stop_token>

#include "kube/api/apiextensions/v1.h"
#include "kube/base/string.h"
#include "kube/base/task.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/clientset.h"
#include "kube/meta/type_info.h"
#include "kube/rest/rest_client.h"

namespace kube {

/// Makes a definition from the versions of one kind. The first is stored, unless the types come
/// from a definition that stores another.
apiextensionsv1::CustomResourceDefinition crdOf(std::span<const TypeInfo* const> versions);

template <Described... Versions>
requires(sizeof...(Versions) > 0) apiextensionsv1::CustomResourceDefinition crd() {
  const TypeInfo* const versions[] = {&TypeOf<Versions>::info...};
  return crdOf(versions);
}

/// Makes the schema alone: that of a kind, as a version has it, or that of a part.
apiextensionsv1::JSONSchemaProps schemaOf(const TypeInfo& type);

struct EnsureCrdOptions {
  /// The time for the definition to be established; 0: unlimited.
  std::chrono::nanoseconds timeout = std::chrono::minutes(1);
};

/// Creates the definition, or updates the existing one, and waits until its objects are served.
/// Changes of others are kept: labels, annotations, and the conversion of versions, unless `crd`
/// sets it. Sends nothing if there is nothing to change. Throws Error at once if the server does
/// not accept the names of the definition, or is deleting it.
apiextensionsv1::CustomResourceDefinition ensureCrd(
    const RestClient& rest, const apiextensionsv1::CustomResourceDefinition& crd,
    const EnsureCrdOptions& options = {}, const std::stop_token& stop = {});
inline apiextensionsv1::CustomResourceDefinition ensureCrd(
    const Clientset& clients, const apiextensionsv1::CustomResourceDefinition& crd,
    const EnsureCrdOptions& options = {}, const std::stop_token& stop = {}) {
  return ensureCrd(clients.rest(), crd, options, stop);
}
/// The awaitable form, with clients.apiextensionsV1().customResourceDefinitions().async().
Task<apiextensionsv1::CustomResourceDefinition> ensureCrd(
    const AsyncResourceClient<apiextensionsv1::CustomResourceDefinition>& client,
    const apiextensionsv1::CustomResourceDefinition& crd, const EnsureCrdOptions& options = {});

}  // namespace kube
