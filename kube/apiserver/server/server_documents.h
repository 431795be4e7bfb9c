// The documents that describe an API server, cached until the served resources change: version,
// discovery, OpenAPI.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/apiserver/server/reply.h"
#include "kube/apiserver/storage/api_resource.h"
#include "kube/base/internal/mutex.h"
#include "kube/testing/api_request.h"

namespace kube::apiserver {

class ServerDocuments {
 public:
  explicit ServerDocuments(const ResourceTable& resources) : resources_(resources) {}

  /// Answers a request for one of these documents. Returns false for all others.
  bool answer(const testing::ApiRequest& request, const Reply& reply);

 private:
  struct Document {
    std::string mediaType, body, etag;
  };
  using DocumentPtr = std::shared_ptr<const Document>;

  bool discovery(const testing::ApiRequest& request, const Reply& reply);
  bool openapi(const testing::ApiRequest& request, const Reply& reply);
  /// The cached document with a name. It is made again if the served resources have changed.
  DocumentPtr kept(const std::string& name, const std::function<Document()>& make);

  const ResourceTable& resources_;
  detail::Mutex documentsMutex_;
  std::uint64_t generation_ KUBE_GUARDED_BY(documentsMutex_) = 0;
  std::map<std::string, DocumentPtr> documents_ KUBE_GUARDED_BY(documentsMutex_);
};

}  // namespace kube::apiserver
