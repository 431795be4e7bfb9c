// The paths of an OpenAPI document, made from the served resources. For the source files that make
// such documents.
//
// Paths, operations, their ids, actions and kinds are those of kube-apiserver, without the
// deprecated paths for watches. dryRun and fieldValidation are listed in every operation that has
// them, since kubectl looks there for the features of a server.
#pragma once

#include <span>
#include <string>

#include "kube/apiserver/documents/openapi_definitions.h"
#include "kube/apiserver/documents/served_resources.h"
#include "kube/meta/gvk.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

/// Adds a resource's paths to `paths`, and the schemas they refer to, to the definitions.
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
