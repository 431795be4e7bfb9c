// Aggregated discovery, in which a server tells groups, versions and resources in one document,
// taken apart into what older servers tell one by one.
//
// For source files of this folder. Any thread may call.
#pragma once

#include <string_view>

#include "kube/api/apidiscovery/v2.h"
#include "kube/api/apidiscovery/v2beta1.h"
#include "kube/client/api_discovery/discovery.h"

namespace kube::detail {

/// Adds what the document tells. Versions that the server calls stale are in no group, but in
/// `failed`. The first other version of a group is its preferred one. A resource without a kind is
/// left out; its subresources are not.
void splitAggregated(const apidiscoveryv2::APIGroupDiscoveryList& document,
                     ServerResources& served);
void splitAggregated(const apidiscoveryv2beta1::APIGroupDiscoveryList& document,
                     ServerResources& served);

/// Whether a Content-Type is JSON of aggregated discovery in that version, in whatever order its
/// parameters are.
bool isAggregatedDiscovery(std::string_view contentType, std::string_view version) noexcept;

}  // namespace kube::detail
