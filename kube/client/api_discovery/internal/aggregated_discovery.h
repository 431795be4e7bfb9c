// Splits aggregated discovery, in which a server returns groups, versions and resources in one
// document, into the separate answers of older servers.
//
// For source files of this folder. May be called from any thread.
#pragma once

#include <string_view>

#include "kube/api/apidiscovery/v2.h"
#include "kube/api/apidiscovery/v2beta1.h"
#include "kube/client/api_discovery/discovery.h"

namespace kube::detail {

/// Adds the content of the document. Versions that the server calls stale are added to `failed`
/// instead of their group. The first other version of a group is its preferred one. A resource
/// without a kind is left out; its subresources are not.
void splitAggregated(const apidiscoveryv2::APIGroupDiscoveryList& document,
                     ServerResources& served);
void splitAggregated(const apidiscoveryv2beta1::APIGroupDiscoveryList& document,
                     ServerResources& served);

/// Returns whether a Content-Type is JSON of aggregated discovery in that version, with its
/// parameters in any order.
bool isAggregatedDiscovery(std::string_view contentType, std::string_view version) noexcept;

}  // namespace kube::detail
