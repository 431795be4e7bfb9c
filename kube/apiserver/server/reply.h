// Where an API server's answers go: encodes them, compresses large ones, adds warnings.
#pragma once

#include <string>
#include <vector>

#include "kube/http/http_server.h"
#include "kube/meta/any_object.h"
#include "kube/meta/v1.h"
#include "kube/testing/api_request.h"

namespace kube::apiserver {

/// What is said beside the answer itself.
using Warnings = std::vector<std::string>;

/// Where answers go: encodes, compresses, adds warnings.
class Reply {
 public:
  Reply(const testing::ApiRequest& request, Responder responder)
      : request_(request), responder_(std::move(responder)) {}

  Warnings warnings;

  void body(int code, std::string mediaType, std::string body) const;
  /// One that may be large: sent while it is made, unless it is small.
  void stream(int code, std::string mediaType, BodySource source) const;
  void status(const metav1::Status& status) const;
  /// Of a type that is no resource's: a review, a scale, a list of groups.
  void object(int code, const AnyObject& object) const;
  /// With an ETag; nothing but that if the client has it already.
  void document(const std::string& mediaType, const std::string& body,
                const std::string& etag) const;
  const Responder& responder() const noexcept { return responder_; }

 private:
  void send(ServerResponse response, std::string body) const;
  void addWarnings(HttpHeaders& headers) const;
  bool takesGzip() const;

  const testing::ApiRequest& request_;
  Responder responder_;
};

}  // namespace kube::apiserver
