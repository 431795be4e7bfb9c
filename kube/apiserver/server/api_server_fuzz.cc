// Feeds arbitrary text as requests into an API server, without sockets: each is answered or refused
// with a library error, and the server keeps working. Input: "METHOD target", lines of headers, an
// empty line, the body; "----" on a line by itself begins the next request.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kube/api/core/v1.h"
#include "kube/apiserver/server/pod_streams.h"
#include "kube/apiserver/server/resource_verbs.h"
#include "kube/apiserver/server/server_documents.h"
#include "kube/apiserver/storage/background.h"
#include "kube/apiserver/storage/collector.h"
#include "kube/apiserver/storage/definitions.h"
#include "kube/base/error.h"
#include "kube/codec/yaml.h"
#include "kube/http/internal/server/http_session.h"
#include "kube/meta/api_error.h"

namespace api_server_fuzz {

using namespace kube;
using namespace kube::apiserver;

// An API server without its connections.
class Server {
 public:
  Server() {
    access_.addToken("t", {.name = "admin", .groups = {"system:masters"}});
    access_.addToken("u", {.name = "ann", .groups = {}});
    background_.start();
    const ResourcePtr spaces = resources_.find({"", "namespaces"});
    corev1::Namespace space;
    space.metadata.name = "d";
    store_.create({.resource = spaces, .version = &spaces->stored()}, AnyObject(space), {});
    handle("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
           {{"Content-Type", "application/yaml"}}, std::string(kDefinition));
    background_.waitIdle();
    handle("POST", "/apis/s.io/v1/namespaces/d/nets", {},
           R"({"apiVersion":"s.io/v1","kind":"Net","metadata":{"name":"n"},"spec":{"a":1}})");
    handle("POST", "/api/v1/namespaces/d/configmaps", {}, R"({"metadata":{"name":"c"}})");
    handle(
        "POST", "/api/v1/namespaces/d/pods", {},
        R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})");
    background_.waitIdle();
  }
  ~Server() { background_.stop(); }

  void handle(std::string method, std::string target, HttpHeaders headers, std::string body) {
    // The answer is dropped.
    const Responder responder(
        std::make_shared<kube::detail::ReplyTo>(std::weak_ptr<kube::detail::ServerSession>(), 1));
    if (!headers.has("Authorization")) headers.add("Authorization", "Bearer t");
    try {
      const testing::ApiRequest request = testing::ApiRequest::parse({.method = std::move(method),
                                                                      .target = std::move(target),
                                                                      .headers = std::move(headers),
                                                                      .body = std::move(body),
                                                                      .peer = {}});
      Reply reply(request, responder);
      try {
        const testing::User user = access_.authenticate(request);
        access_.authorize(user, request);
        if (request.isResource()) {
          verbs_.handle(request, user, reply);
        } else {
          documents_.answer(request, reply);
        }
      } catch (const ApiError& error) {
        reply.status(error.status());
      }
    } catch (const Error&) {
    }
  }
  void settle() { background_.waitIdle(); }

 private:
  static constexpr std::string_view kDefinition = R"({apiVersion: apiextensions.k8s.io/v1,
kind: CustomResourceDefinition, metadata: {name: nets.s.io},
spec: {group: s.io, scope: Namespaced, names: {plural: nets, kind: Net}, versions: [
  {name: v1, served: true, storage: true, subresources: {status: {}, scale: {
    specReplicasPath: .spec.a, statusReplicasPath: .status.a}}, schema: {openAPIV3Schema: {
    type: object, properties: {spec: {type: object, properties: {a: {type: integer, default: 2},
    b: {type: array, items: {type: string, maxLength: 5}}}}, status: {type: object,
    x-kubernetes-preserve-unknown-fields: true}}}}}]}})";

  FakeClock clock_;
  Storage storage_{100};
  ResourceTable resources_{storage_};
  testing::Access access_{{}};
  ObjectStore store_{storage_, resources_, clock_};
  testing::Containers containers_{clock_};
  PodStreams podStreams_{store_, containers_};
  ResourceVerbs verbs_{store_, access_, podStreams_, std::chrono::minutes(1)};
  ServerDocuments documents_{resources_};
  Background background_{storage_};
  Collector collector_{store_, background_, true};
  Definitions definitions_{store_, resources_, background_};
};

std::string_view takeUntil(std::string_view& text, std::string_view end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + end.size(), text.size()));
  return part;
}

void send(Server& server, std::string_view text) {
  std::string_view line = takeUntil(text, "\n");
  const std::string method(takeUntil(line, " "));
  HttpHeaders headers;
  for (;;) {
    std::string_view header = takeUntil(text, "\n");
    if (header.empty()) break;
    const std::string name(takeUntil(header, ": "));
    headers.add(name, std::string(header));
  }
  server.handle(method, std::string(line), std::move(headers), std::string(text));
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A new server now and then: earlier requests may matter, but must not pile up.
  static std::unique_ptr<Server> server;
  static int count = 0;
  if (count++ % 500 == 0) server = std::make_unique<Server>();
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (int i = 0; i < 8 && !text.empty(); ++i) send(*server, takeUntil(text, "\n----\n"));
  server->settle();
  return 0;
}

}  // namespace api_server_fuzz
