// One HTTP exchange as a function, for what needs the network but is below the transport: getting
// a fresh token from an identity provider. Whoever makes credentials plugs the transport in:
//
//   auto credentials = kube::makeCredentials(config, {.fetch = [](HttpRequest request,
//       const TlsConfig& tls, std::stop_token stop) { return Transport({.tls = tls}).send(request,
//       stop); }});
//
// A fetch returns every complete answer, whatever its status, and throws TransportError,
// TimeoutError or CanceledError where there is none. It follows no redirect to another host: what
// it sends is secret.
#pragma once

#include <functional>
#include <stop_token>

#include "kube/http/http.h"
#include "kube/http/tls_config.h"

namespace kube {

using HttpFetch = std::function<HttpResponse(HttpRequest, const TlsConfig&, std::stop_token)>;

}  // namespace kube
