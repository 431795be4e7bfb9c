// One HTTP exchange as a function. Code below the transport that needs the network, such as the
// renewal of a token at an identity provider, gets the transport this way:
//
//   auto credentials = kube::makeCredentials(
//       config, {.fetch = [](HttpRequest request, const TlsConfig& tls, std::stop_token stop) {
//         return Transport({.tls = tls}).send(std::move(request), stop);
//       }});
//
// A fetch returns every complete answer, with any status, and throws TransportError, TimeoutError
// or CanceledError if there is none. It follows no redirect to another host, because requests carry
// secrets.
#pragma once

#include <functional>
#include <stop_token>

#include "kube/http/http.h"
#include "kube/http/tls_config.h"

namespace kube {

using HttpFetch = std::function<HttpResponse(HttpRequest, const TlsConfig&, std::stop_token)>;

}  // namespace kube
