#include "kube/client/api_discovery/discovery_client.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/client/api_discovery/internal/aggregated_discovery.h"
#include "kube/codec/json.h"
#include "kube/meta/api_error.h"
#include "kube/rest/internal/query.h"

namespace kube {

namespace {

constexpr std::string_view kJson = "application/json";
// The server insists on this order of the parameters.
constexpr std::string_view kAcceptV2 =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr std::string_view kAcceptV2Beta1 =
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
constexpr std::string_view kOpenApiV2Protobuf =
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view kOpenApiV3Protobuf =
    "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
constexpr std::string_view kOpenApiV3 = "/openapi/v3";
constexpr int kTries = 2;  // a listed version may be gone when it is requested

std::string acceptFor(const DiscoveryClientOptions& options) {
  if (options.legacy) return std::string(kJson);
  std::string all = fmt::format("{},{},{}", kAcceptV2, kAcceptV2Beta1, kJson);
  return options.noPeers ? fmt::format("{};profile=nopeer,{}", kAcceptV2, all) : all;
}

/// Returns the result of `decode`. An error names the answer that was decoded.
template <class Decode>
auto decodedBy(Decode decode, std::string_view path) {
  try {
    return decode();
  } catch (const DecodeError& error) {
    throw DecodeError(error.where(), fmt::format("{} (in the answer to get {}; is this a "
                                                 "Kubernetes server?)",
                                                 error.reason(), path));
  }
}

template <Described T>
T decoded(const std::string& body, std::string_view path) {
  return decodedBy([&] { return fromJson<T>(body); }, path);
}

std::string pathOf(const GroupVersion& version) {
  std::string path = version.group.empty() ? "/api" : "/apis";
  const auto add = [&](std::string_view segment) {
    if (const std::string_view problem = detail::pathSegmentProblem(segment); !problem.empty()) {
      throw Error(fmt::format("get the resources of \"{}\": \"{}\" {}", version, segment, problem));
    }
    path += '/';
    detail::appendEscaped(path, segment);
  };
  if (!version.group.empty()) add(version.group);
  add(version.version);
  return path;
}

// Checks the path of a document, which comes from the server and becomes part of a request.
bool isPlaceOfOpenApi(std::string_view place) {
  return place.starts_with(kOpenApiV3) && place.substr(kOpenApiV3.size()).starts_with('/') &&
         std::ranges::all_of(place, [](char c) { return c > ' ' && c < 0x7F && c != '#'; });
}

}  // namespace

/// The answer of /api or /apis, or of both.
struct DiscoveryClient::Root {
  ServerResources served;   // without `resources` if they are still to be read
  bool aggregated = false;  // it contains everything
};

DiscoveryClient::DiscoveryClient(const Config& config, DiscoveryClientOptions options)
    : DiscoveryClient(RestClient([&] {
                        Config bursty = config;
                        if (bursty.burst == Config::kDefaultBurst) bursty.burst = kDefaultBurst;
                        return bursty;
                      }()),
                      options) {}

Request DiscoveryClient::get(std::string_view path) const {
  Request request = rest_.get();
  request.absPath(path);
  if (rest_.config().timeout.count() == 0) request.timeout(kDefaultTimeout);
  return request;
}

DiscoveryClient::Root DiscoveryClient::root(std::string_view path,
                                            const std::stop_token& stop) const {
  Request request = get(path);
  request.accept(acceptFor(options_));
  const HttpResponse answer = request.response(stop);
  const std::string_view type = answer.headers.get("Content-Type");
  Root result;
  if (detail::isAggregatedDiscovery(type, "v2")) {
    detail::splitAggregated(decoded<apidiscoveryv2::APIGroupDiscoveryList>(answer.body, path),
                            result.served);
    result.aggregated = true;
  } else if (detail::isAggregatedDiscovery(type, "v2beta1")) {
    detail::splitAggregated(decoded<apidiscoveryv2beta1::APIGroupDiscoveryList>(answer.body, path),
                            result.served);
    result.aggregated = true;
  } else if (path == "/apis") {
    result.served.groups = decoded<metav1::APIGroupList>(answer.body, path).groups;
  } else if (const auto core = decoded<metav1::APIVersions>(answer.body, path);
             !core.versions.empty()) {
    metav1::APIGroup group;
    for (const String& version : core.versions) group.versions.push_back({version, version});
    group.preferredVersion = group.versions.front();
    result.served.groups.push_back(std::move(group));
  }
  return result;
}

DiscoveryClient::Root DiscoveryClient::roots(const std::stop_token& stop) const {
  Root all;
  try {
    all = root("/api", stop);
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
    all.aggregated = true;  // there is no core group to read
  }
  Root groups = root("/apis", stop);
  const auto append = [](auto& to, auto& from) {
    for (auto& item : from) to.push_back(std::move(item));
  };
  append(all.served.groups, groups.served.groups);
  append(all.served.resources, groups.served.resources);
  append(all.served.failed, groups.served.failed);
  all.aggregated = all.aggregated && groups.aggregated;
  if (!all.aggregated) all.served.resources.clear();
  return all;
}

ServerVersion DiscoveryClient::serverVersion(const std::stop_token& stop) const {
  return decoded<ServerVersion>(get("/version").raw(stop), "/version");
}

metav1::APIGroupList DiscoveryClient::serverGroups(const std::stop_token& stop) const {
  return {.groups = roots(stop).served.groups};
}

metav1::APIResourceList DiscoveryClient::serverResourcesForGroupVersion(
    const GroupVersion& version, const std::stop_token& stop) const {
  const std::string path = pathOf(version);
  metav1::APIResourceList list;
  try {
    list = decoded<metav1::APIResourceList>(get(path).accept(std::string(kJson)).raw(stop), path);
  } catch (const ApiError& error) {
    if (version != GroupVersion{"", "v1"} || !isNotFound(error)) throw;
  }
  list.groupVersion = version.str();
  return list;
}

ServerResources DiscoveryClient::tryGroupsAndResources(const std::stop_token& stop) const {
  Root all = roots(stop);
  if (!all.aggregated) {
    detail::fetchVersions(*this, detail::versionsOf(all.served.groups), all.served, stop);
  }
  return std::move(all.served);
}

ServerResources DiscoveryClient::serverGroupsAndResources(const std::stop_token& stop) const {
  for (int attempt = 1;; ++attempt) {
    ServerResources served = tryGroupsAndResources(stop);
    // Another request does not help for versions that the server calls stale.
    const bool again = std::ranges::any_of(
        served.failed, [](const DiscoveryFailure& failure) { return !failure.stale; });
    if (!again || attempt == kTries) return served;
  }
}

std::string DiscoveryClient::openApiV2(OpenApiFormat format, const std::stop_token& stop) const {
  const bool json = format == OpenApiFormat::Json;
  return get("/openapi/v2").accept(std::string(json ? kJson : kOpenApiV2Protobuf)).raw(stop);
}

Map<String> DiscoveryClient::openApiV3Paths(const std::stop_token& stop) const {
  const std::string body = get(kOpenApiV3).accept(std::string(kJson)).raw(stop);
  const Value listed = decodedBy([&] { return parseJson(body); }, kOpenApiV3);
  const std::string prefix = rest_.config().serverUrl().path;
  Map<String> places;
  for (const auto& [name, entry] : listed["paths"].asObject()) {
    std::string_view place = entry["serverRelativeURL"].asString();
    // The connection adds the path of the server's address.
    if (place.starts_with(prefix)) place.remove_prefix(prefix.size());
    // A path that is invalid, or not below the path of the address, is replaced by the usual one.
    const bool usable = isPlaceOfOpenApi(place);
    places.insert_or_assign(name, usable ? String(place) : fmt::format("{}/{}", kOpenApiV3, name));
  }
  return places;
}

std::string DiscoveryClient::openApiV3(const GroupVersion& version, OpenApiFormat format,
                                       const std::stop_token& stop) const {
  const std::string name = pathOf(version).substr(1);
  const Map<String> places = openApiV3Paths(stop);
  const auto known = places.find(name);
  if (known == places.end()) {
    throw ApiError(status::notFound({"", "openapi/v3"}, name),
                   fmt::format("get the OpenAPI document of {}", version));
  }
  return openApiV3At(known->value, format, stop);
}

std::string DiscoveryClient::openApiV3At(std::string_view place, OpenApiFormat format,
                                         const std::stop_token& stop) const {
  if (!isPlaceOfOpenApi(place)) {
    throw Error(fmt::format("\"{}\" is not the path of an OpenAPI document: paths begin with {}/",
                            place, kOpenApiV3));
  }
  const bool json = format == OpenApiFormat::Json;
  return get(place).accept(std::string(json ? kJson : kOpenApiV3Protobuf)).raw(stop);
}

}  // namespace kube
