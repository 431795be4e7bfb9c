// What an API server says about itself, kept until what it serves changes: version, discovery,
// OpenAPI.
//
// Thread safety: any thread may call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kube/testing/api_request.h"
#include "kube/testing/api_resource.h"
#include "kube/testing/reply.h"

namespace kube::testing {

class ServerDocuments {
 public:
  explicit ServerDocuments(const ResourceTable& resources) : resources_(resources) {}

  /// Answers the request if it is for one of these.
  bool answer(const ApiRequest& request, const Reply& reply);

 private:
  struct Document {
    std::string mediaType, body, etag;
  };
  using DocumentPtr = std::shared_ptr<const Document>;

  bool discovery(const ApiRequest& request, const Reply& reply);
  bool openapi(const ApiRequest& request, const Reply& reply);
  /// The document under a name, made if it is new or what is served has changed.
  DocumentPtr kept(const std::string& name, const std::function<Document()>& make);

  const ResourceTable& resources_;
  std::mutex mutex_;
  std::uint64_t generation_ = 0;
  std::map<std::string, DocumentPtr> documents_;
};

}  // namespace kube::testing
