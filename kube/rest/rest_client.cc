#include "kube/rest/rest_client.h"

#include <fmt/core.h>

#include <string_view>

#include "kube/base/error.h"
#include "kube/rest/query.h"

namespace kube {
namespace {

void check(const GroupVersion& version, std::string_view what, std::string_view text,
           std::string_view problem) {
  if (problem.empty()) return;
  throw Error(
      fmt::format("apiVersion \"{}\": the {} \"{}\" {}", version.str(), what, text, problem));
}

}  // namespace

RestClient::RestClient(std::shared_ptr<ApiConnection> connection, GroupVersion version)
    : connection_(std::move(connection)), version_(std::move(version)) {
  if (!version_.group.empty()) {
    check(version_, "group", version_.group, detail::groupProblem(version_.group));
  }
  if (version_.version.empty()) return;
  check(version_, "version", version_.version, detail::versionProblem(version_.version));
  prefix_ = version_.group.empty() ? "/api" : "/apis/";
  detail::appendEscaped(prefix_, version_.group);
  prefix_ += '/';
  detail::appendEscaped(prefix_, version_.version);
}

RestClient RestClient::forVersion(GroupVersion version) const {
  RestClient client(connection_, std::move(version));
  client.maxRetries_ = maxRetries_;
  return client;
}

RestClient RestClient::withMaxRetries(int n) const {
  RestClient client = *this;
  client.maxRetries_ = n;
  return client;
}

Request RestClient::verb(std::string method) const {
  Request request(connection_, std::move(method), prefix_);
  if (maxRetries_) request.maxRetries(*maxRetries_);
  return request;
}

Request RestClient::patch(PatchType type, std::string patch) const {
  Request request = verb("PATCH");
  request.body(std::move(patch), std::string(contentType(type)));
  return request;
}

}  // namespace kube
