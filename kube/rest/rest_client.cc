#include "kube/rest/rest_client.h"

namespace kube {

RestClient::RestClient(std::shared_ptr<ApiConnection> connection, GroupVersion version)
    : connection_(std::move(connection)), version_(std::move(version)) {
  if (version_.version.empty()) return;
  prefix_ = version_.group.empty() ? "/api/" : "/apis/" + version_.group + "/";
  prefix_ += version_.version;
}

RestClient RestClient::forVersion(GroupVersion version) const {
  RestClient client(connection_, std::move(version));
  client.maxRetries_ = maxRetries_;
  client.writeGuard_ = writeGuard_;
  return client;
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
  return request;
}

Request RestClient::patch(PatchType type, std::string patch) const {
  Request request = verb("PATCH");
  request.body(std::move(patch), std::string(contentType(type)));
  return request;
}

}  // namespace kube
