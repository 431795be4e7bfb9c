// The paths of an OpenAPI document, made from what is served; for the source files that make such
// documents.
//
// Paths, operations, their ids, actions and kinds are those of kube-apiserver, but for the
// deprecated paths of watches. dryRun and fieldValidation stand in every operation that has them,
// since kubectl looks for them there to learn what a server can do.
#pragma once

#include <span>
#include <string>

#include "kube/apiserver/documents/openapi_definitions.h"
#include "kube/apiserver/documents/served_resources.h"
#include "kube/meta/gvk.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

/// Adds a resource's paths to `paths`, and what they refer to to the definitions.
void addResourcePaths(Value& paths, const ServedResource& resource,
                      OpenApiDefinitions& definitions);

/// The path of a version's list of resources: /apis/apps/v1/
void addVersionPath(Value& paths, const GroupVersion& version, OpenApiDefinitions& definitions);

/// The paths of the roots and of the groups: /apis/, /apis/apps/, /version/
void addRootPaths(Value& paths, std::span<const ServedGroup> groups,
                  OpenApiDefinitions& definitions);

/// "/api/v1" or "/apis/apps/v1".
std::string pathOf(const GroupVersion& version);

}  // namespace kube::apiserver
