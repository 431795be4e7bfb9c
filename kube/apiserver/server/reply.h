// The answer to one request: encodes objects, compresses large bodies, adds warnings.
#pragma once

#include <string>
#include <vector>

#include "kube/http/http_server.h"
#include "kube/meta/any_object.h"
#include "kube/meta/v1.h"
#include "kube/testing/api_request.h"

namespace kube::apiserver {

class Reply {
 public:
  Reply(const testing::ApiRequest& request, Responder responder)
      : request_(request), responder_(std::move(responder)) {}

  /// Sent with the answer, in Warning headers.
  std::vector<std::string> warnings;

  void body(int code, std::string mediaType, std::string body) const;
  /// For a body that may be large: sends it while it is made, unless it is small.
  void stream(int code, std::string mediaType, BodySource source) const;
  void status(const metav1::Status& status) const;
  /// For an object that is not stored: a review, a scale, a list of groups.
  void object(int code, const AnyObject& object) const;
  /// Sends a document with its ETag, or the ETag alone if the client has the document.
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
