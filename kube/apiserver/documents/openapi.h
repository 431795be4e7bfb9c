// The OpenAPI documents of an API server, from which kubectl explains, validates and patches.
//
//   const auto served = builtInResources();
//   Value v2 = openApiV2(served);
//   toJson(v2);                                // GET /openapi/v2
//   openApiV2Protobuf(v2);                     // the same, as kubectl asks for it
//   openApiV3Root(served);                     // GET /openapi/v3
//   toJson(openApiV3(served, {"apps", "v1"})); // GET /openapi/v3/apis/apps/v1
//
// Schemas of built-in kinds are made from their tables: names, types, formats, required fields,
// list types and merge keys are upstream's, descriptions and enumerations are absent. Those of
// custom resources are their own. kubectl asks for version 3 in JSON only; there is no protobuf
// form.
//
// The whole of version 2 takes some tens of milliseconds: make it when asked for, and keep it until
// what is served changes.
//
// Thread safety: all functions are pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kube/apiserver/documents/discovery_documents.h"
#include "kube/apiserver/documents/served_resources.h"
#include "kube/meta/gvk.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

/// The protobuf form of /openapi/v2, as kubectl asks for it, and as servers call what they send (an
/// @ is not allowed in a media type).
inline constexpr std::string_view kOpenApiV2ProtobufAccept =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
inline constexpr std::string_view kOpenApiV2ProtobufContentType =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

Value openApiV2(std::span<const ServedResource> served);

/// A document of version 2 as the protobuf message openapi.v2.Document of gnostic.
std::string openApiV2Protobuf(const Value& document);

/// The document of one version; without paths where that is not served.
Value openApiV3(std::span<const ServedResource> served, const GroupVersion& version);

/// Names the content of a version's document, for its ETag and for the root, without making it.
std::string openApiV3Hash(std::span<const ServedResource> served, const GroupVersion& version);

/// {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=..."}}}
TaggedDocument openApiV3Root(std::span<const ServedResource> served);

}  // namespace kube::apiserver
