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

#include "kube/apiserver/server/reply.h"
#include "kube/apiserver/storage/api_resource.h"
#include "kube/testing/api_request.h"

namespace kube::apiserver {

class ServerDocuments {
 public:
  explicit ServerDocuments(const ResourceTable& resources) : resources_(resources) {}

  /// Answers the request if it is for one of these.
  bool answer(const testing::ApiRequest& request, const Reply& reply);

 private:
  struct Document {
    std::string mediaType, body, etag;
  };
  using DocumentPtr = std::shared_ptr<const Document>;

  bool discovery(const testing::ApiRequest& request, const Reply& reply);
  bool openapi(const testing::ApiRequest& request, const Reply& reply);
  /// The document under a name, made if it is new or what is served has changed.
  DocumentPtr kept(const std::string& name, const std::function<Document()>& make);

  const ResourceTable& resources_;
  std::mutex mutex_;
  std::uint64_t generation_ = 0;
  std::map<std::string, DocumentPtr> documents_;
};

}  // namespace kube::apiserver
