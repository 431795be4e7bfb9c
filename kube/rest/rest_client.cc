#include "kube/rest/rest_client.h"

#include <fmt/core.h>

#include <string_view>

#include "kube/base/error.h"
#include "kube/base/joined.h"
#include "kube/meta/validation/validation.h"
#include "kube/rest/internal/query.h"

namespace kube {
namespace {

// A name that no API can have is not sent: it could lead to another path of the server.
void check(const GroupVersion& version, std::string_view what, std::string_view text,
           const validation::Reasons& problems) {
  if (problems.empty()) return;
  throw Error(fmt::format("apiVersion \"{}\": invalid {} \"{}\": {}", version.str(), what, text,
                          joined(problems, "; ")));
}

}  // namespace

RestClient::RestClient(std::shared_ptr<ApiConnection> connection, GroupVersion version)
    : connection_(std::move(connection)), version_(std::move(version)) {
  const ClientDefaults& defaults = connection_->config().defaults;
  if (defaults != ClientDefaults{}) defaults_ = std::make_shared<const ClientDefaults>(defaults);
  const std::string_view group = version_.group;
  const std::string_view name = version_.version;
  if (!group.empty()) check(version_, "group", group, validation::isDNS1123Subdomain(group));
  if (name.empty()) return;
  check(version_, "version", name, validation::isDNS1123Label(name));
  prefix_ = group.empty() ? "/api" : "/apis/";
  detail::appendEscaped(prefix_, group);
  prefix_ += '/';
  detail::appendEscaped(prefix_, name);
}

RestClient RestClient::forVersion(GroupVersion version) const {
  RestClient client(connection_, std::move(version));
  client.maxRetries_ = maxRetries_;
  client.writeGuard_ = writeGuard_;
  client.defaults_ = defaults_;
  return client;
}

RestClient RestClient::withDefaults(const ClientDefaults& defaults) const {
  RestClient client = *this;
  client.defaults_ = std::make_shared<const ClientDefaults>(defaults.over(this->defaults()));
  return client;
}

const ClientDefaults& RestClient::defaults() const noexcept {
  static const ClientDefaults none;
  return defaults_ ? *defaults_ : none;
}

RestClient RestClient::withMaxRetries(int n) const {
  RestClient client = *this;
  client.maxRetries_ = n;
  return client;
}

RestClient RestClient::withWriteGuard(std::function<std::string()> guard) const {
  RestClient client = *this;
  client.writeGuard_ = std::move(guard);
  return client;
}

Request RestClient::verb(std::string method) const {
  Request request(connection_, std::move(method), prefix_);
  if (maxRetries_) request.maxRetries(*maxRetries_);
  if (writeGuard_) request.writeGuard(writeGuard_);
  if (defaults_) request.defaults(defaults_);
  return request;
}

Request RestClient::patch(PatchType type, std::string patch) const {
  Request request = verb("PATCH");
  request.body(std::move(patch), std::string(contentType(type)));
  return request;
}

}  // namespace kube
