// The OpenAPI documents of an API server. kubectl explains, validates and patches by them.
//
//   const auto served = builtInResources();
//   Value v2 = openApiV2(served);
//   toJson(v2);                                // GET /openapi/v2
//   openApiV2Protobuf(v2);                     // the same, as kubectl asks for it
//   openApiV3Root(served);                     // GET /openapi/v3
//   toJson(openApiV3(served, {"apps", "v1"})); // GET /openapi/v3/apis/apps/v1
//
// Schemas of built-in kinds are made from their tables: names, types, formats, required fields,
// list types and merge keys are upstream's; descriptions and enumerations are left out. Schemas of
// custom resources are their own. There is no protobuf form of version 3, since kubectl asks for
// JSON only.
//
// Version 2 takes some tens of milliseconds to make: make it on demand, and keep it until the
// served resources change.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kube/apiserver/documents/discovery_documents.h"
#include "kube/apiserver/documents/served_resources.h"
#include "kube/meta/gvk.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

/// The protobuf form of /openapi/v2: the media type that kubectl asks for, and the one that servers
/// answer with (an @ is not allowed in a media type).
inline constexpr std::string_view kOpenApiV2ProtobufAccept =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
inline constexpr std::string_view kOpenApiV2ProtobufContentType =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

Value openApiV2(std::span<const ServedResource> served);

/// Encodes a document of version 2 as gnostic's protobuf message openapi.v2.Document.
std::string openApiV2Protobuf(const Value& document);

/// The document of one version. A version that is not served has no paths.
Value openApiV3(std::span<const ServedResource> served, const GroupVersion& version);

/// A hash for the content of a version's document, for its ETag and for the root. It is made
/// without making the document.
std::string openApiV3Hash(std::span<const ServedResource> served, const GroupVersion& version);

/// {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=..."}}}
TaggedDocument openApiV3Root(std::span<const ServedResource> served);

}  // namespace kube::apiserver
