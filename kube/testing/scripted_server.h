// A server that answers with a function of the test, over real TLS and HTTP/2.
//
//   ScriptedServer server([](const ServerRequest& request) -> ServerResponse { ... });
//   RestClient rest(server.config());
//   ...
//   EXPECT_EQ(server.requests()[0].target, "/api/v1/pods");
//
// Thread safety: every method may be called from any thread; the server calls the script on one
// thread at a time.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/http/http_server.h"
#include "kube/rest/config.h"
#include "kube/testing/test_ca.h"

namespace kube {

class ScriptedServer {
 public:
  using Script = std::function<ServerResponse(const ServerRequest&)>;
  /// A script that answers through the responder, for streams.
  using RawScript = std::function<void(const ServerRequest&, const Responder&)>;

  explicit ScriptedServer(Script script)
      : ScriptedServer(RawScript(
            [script = std::move(script)](const ServerRequest& request, const Responder& responder) {
              responder.send(script(request));
            })) {}
  explicit ScriptedServer(RawScript script)
      : script_(std::move(script)),
        server_({.tls = ServerTls{ca_.server({"127.0.0.1"})}},
                [this](const ServerRequest& request, const Responder& responder) {
                  {
                    const detail::Lock lock(requestsMutex_);
                    requests_.push_back(request);
                  }
                  script_(request, responder);
                }) {}

  /// A configuration for clients, without a rate limit.
  Config config() const {
    Config config;
    config.host = server_.url();
    config.tls.caData = ca_.certPem();
    config.proxy = "direct";
    config.qps = -1;
    return config;
  }
  std::vector<ServerRequest> requests() const {
    const detail::Lock lock(requestsMutex_);
    return requests_;
  }
  HttpServer& http() { return server_; }

 private:
  const TestCa ca_;
  mutable detail::Mutex requestsMutex_;
  std::vector<ServerRequest> requests_ KUBE_GUARDED_BY(requestsMutex_);
  const RawScript script_;
  HttpServer server_;
};

}  // namespace kube
