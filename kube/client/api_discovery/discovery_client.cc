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

Task<DiscoveryClient::Root> DiscoveryClient::root(std::string path) const {
  Request request = get(path);
  request.accept(acceptFor(options_));
  const HttpResponse answer = co_await std::move(request).async().response();
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
  co_return result;
}

Task<DiscoveryClient::Root> DiscoveryClient::roots() const {
  Root all;
  try {
    all = co_await root("/api");
  } catch (const ApiError& error) {
    if (!isNotFound(error)) throw;
    all.aggregated = true;  // there is no core group to read
  }
  Root groups = co_await root("/apis");
  for (auto& group : groups.served.groups) all.served.groups.push_back(std::move(group));
  detail::append(all.served, std::move(groups.served));
  all.aggregated = all.aggregated && groups.aggregated;
  if (!all.aggregated) all.served.resources.clear();
  co_return all;
}

Task<ServerVersion> DiscoveryClient::fetchVersion() const {
  Request request = get("/version");
  const std::string body = co_await std::move(request).async().raw();
  co_return decoded<ServerVersion>(body, "/version");
}

Task<metav1::APIGroupList> DiscoveryClient::fetchGroups() const {
  const Root all = co_await roots();
  metav1::APIGroupList list;
  list.groups = all.served.groups;
  co_return list;
}

Task<metav1::APIResourceList> DiscoveryClient::fetchResources(GroupVersion version) const {
  const std::string path = pathOf(version);
  metav1::APIResourceList list;
  try {
    Request request = get(path);
    request.accept(std::string(kJson));
    const std::string body = co_await std::move(request).async().raw();
    list = decoded<metav1::APIResourceList>(body, path);
  } catch (const ApiError& error) {
    if (version != GroupVersion{"", "v1"} || !isNotFound(error)) throw;
  }
  list.groupVersion = version.str();
  co_return list;
}

Task<ServerResources> DiscoveryClient::fetchAllOnce() const {
  Root all = co_await roots();
  if (!all.aggregated) {
    auto versions = detail::versionsOf(all.served.groups);
    ServerResources rest = co_await detail::fetchVersions(Discovery::async(), std::move(versions));
    detail::append(all.served, std::move(rest));
  }
  co_return std::move(all.served);
}

Task<ServerResources> DiscoveryClient::fetchAll() const {
  for (int attempt = 1;; ++attempt) {
    ServerResources served = co_await fetchAllOnce();
    // Another request does not help for versions that the server calls stale.
    const bool again = std::ranges::any_of(
        served.failed, [](const DiscoveryFailure& failure) { return !failure.stale; });
    if (!again || attempt == kTries) co_return served;
  }
}

// --- OpenAPI.

namespace {

Task<Map<String>> placesIn(Task<std::string> index, std::string prefix) {
  const std::string body = co_await std::move(index);
  const Value listed = decodedBy([&] { return parseJson(body); }, kOpenApiV3);
  Map<String> places;
  for (const auto& [name, entry] : listed["paths"].asObject()) {
    std::string_view place = entry["serverRelativeURL"].asString();
    // The connection adds the path of the server's address.
    if (place.starts_with(prefix)) place.remove_prefix(prefix.size());
    // A path that is invalid, or not below the path of the address, is replaced by the usual one.
    const bool usable = isPlaceOfOpenApi(place);
    places.insert_or_assign(name, usable ? String(place) : fmt::format("{}/{}", kOpenApiV3, name));
  }
  co_return places;
}

Task<std::string> documentOf(AsyncDiscoveryClient client, GroupVersion version,
                             OpenApiFormat format) {
  const std::string name = pathOf(version).substr(1);
  const Map<String> places = co_await client.openApiV3Paths();
  const auto known = places.find(name);
  if (known == places.end()) {
    throw ApiError(status::notFound({"", "openapi/v3"}, name),
                   fmt::format("get the OpenAPI document of {}", version));
  }
  co_return co_await client.openApiV3At(known->value, format);
}

}  // namespace

Task<std::string> AsyncDiscoveryClient::openApiV2(OpenApiFormat format) const {
  const bool json = format == OpenApiFormat::Json;
  Request request = client_->get("/openapi/v2");
  request.accept(std::string(json ? kJson : kOpenApiV2Protobuf));
  return std::move(request).async().raw();
}

Task<Map<String>> AsyncDiscoveryClient::openApiV3Paths() const {
  Request request = client_->get(kOpenApiV3);
  request.accept(std::string(kJson));
  return placesIn(std::move(request).async().raw(), client_->rest().config().serverUrl().path);
}

Task<std::string> AsyncDiscoveryClient::openApiV3(const GroupVersion& version,
                                                  OpenApiFormat format) const {
  return documentOf(*this, version, format);
}

Task<std::string> AsyncDiscoveryClient::openApiV3At(std::string_view place,
                                                    OpenApiFormat format) const {
  if (!isPlaceOfOpenApi(place)) {
    throw Error(fmt::format("\"{}\" is not the path of an OpenAPI document: paths begin with {}/",
                            place, kOpenApiV3));
  }
  const bool json = format == OpenApiFormat::Json;
  Request request = client_->get(place);
  request.accept(std::string(json ? kJson : kOpenApiV3Protobuf));
  return std::move(request).async().raw();
}

AsyncDiscoveryClient DiscoveryClient::async() const {
  return AsyncDiscoveryClient(std::make_shared<const DiscoveryClient>(*this));
}

std::string DiscoveryClient::openApiV2(OpenApiFormat format, const std::stop_token& stop) const {
  return detail::runBlocking(async().openApiV2(format), stop);
}
Map<String> DiscoveryClient::openApiV3Paths(const std::stop_token& stop) const {
  return detail::runBlocking(async().openApiV3Paths(), stop);
}
std::string DiscoveryClient::openApiV3(const GroupVersion& version, OpenApiFormat format,
                                       const std::stop_token& stop) const {
  return detail::runBlocking(async().openApiV3(version, format), stop);
}
std::string DiscoveryClient::openApiV3At(std::string_view place, OpenApiFormat format,
                                         const std::stop_token& stop) const {
  return detail::runBlocking(async().openApiV3At(place, format), stop);
}

}  // namespace kube
