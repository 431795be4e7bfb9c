#include "kube/rest/rest_client.h"

namespace kube {

RestClient::RestClient(std::shared_ptr<ApiConnection> connection, GroupVersion version)
    : connection_(std::move(connection)), version_(std::move(version)) {
  if (version_.version.empty()) return;
  prefix_ = version_.group.empty() ? "/api/" : "/apis/" + version_.group + "/";
  prefix_ += version_.version;
}

Request RestClient::patch(PatchType type, std::string patch) const {
  Request request = verb("PATCH");
  request.body(std::move(patch), std::string(contentType(type)));
  return request;
}

}  // namespace kube
