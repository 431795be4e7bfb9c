// The discovery documents of an API server: /api, /apis and /version.
//
//   const auto served = builtInResources();
//   toJson(apiGroupList(served));                           // GET /apis
//   toJson(apiResourceList(served, {"apps", "v1"}));        // GET /apis/apps/v1
//   aggregatedDiscovery(served, Root::Groups, "v2").body;   // GET /apis, of all versions at once
//
// The documents are those of kube-apiserver, with its order of groups and versions. They are cheap
// enough to make for every request, except for the aggregated ones, which should be kept until the
// served resources change.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kube/api/apidiscovery/v2.h"
#include "kube/apiserver/documents/served_resources.h"
#include "kube/meta/gvk.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

/// The legacy root /api has the core group, /apis has the others.
enum class Root { Core, Groups };

/// GET /api. `serverAddress` is host and port.
metav1::APIVersions apiVersions(std::span<const ServedResource> served,
                                std::string_view serverAddress);

/// GET /apis.
metav1::APIGroupList apiGroupList(std::span<const ServedResource> served);

/// GET /apis/GROUP. A group that is not served has no versions.
metav1::APIGroup apiGroup(std::span<const ServedResource> served, std::string_view group);

/// GET /api/v1 and /apis/GROUP/VERSION. A version that is not served has no resources.
metav1::APIResourceList apiResourceList(std::span<const ServedResource> served,
                                        const GroupVersion& version);

/// All groups of a root with all their resources.
apidiscoveryv2::APIGroupDiscoveryList groupDiscovery(std::span<const ServedResource> served,
                                                     Root root);

/// A body in JSON and its ETag, without quotes.
struct TaggedDocument {
  std::string body;
  std::string etag;
};

/// Aggregated discovery as a document of apidiscovery.k8s.io/v2 or v2beta1, which differ in name
/// only. Serve it as application/json;g=apidiscovery.k8s.io;v=VERSION;as=APIGroupDiscoveryList.
TaggedDocument aggregatedDiscovery(std::span<const ServedResource> served, Root root,
                                   std::string_view version = "v2");

/// GET /version: the release of the built-in kinds, as "v1.36.4+kubexx".
std::string versionDocument();

}  // namespace kube::apiserver
