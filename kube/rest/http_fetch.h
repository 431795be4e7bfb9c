// One HTTP exchange as a function, for what needs the network but is below the transport: getting
// a fresh token from an identity provider. Whoever makes credentials plugs the transport in:
//
//   auto credentials = kube::makeCredentials(config, {.fetch = [&](HttpCall call, std::stop_token
//       stop) { return transport.fetch(call, stop); }});
//
// A fetch returns every complete answer, whatever its status, and throws TransportError,
// TimeoutError or CanceledError where there is none. It follows no redirect: what it sends is
// secret.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/rest/tls_config.h"

namespace kube {

struct Header {
  std::string name = {}, value = {};

  bool operator==(const Header&) const = default;
};

/// The headers of a request or an answer, in order; a name may come more than once.
using HeaderList = std::vector<Header>;

struct HttpCall {
  std::string method = "GET";
  std::string url = {};
  HeaderList headers = {};
  std::string body = {};
  TlsConfig tls = {};
  std::chrono::nanoseconds timeout = std::chrono::seconds{30};
  std::size_t maxBody = 1 << 20;  // a longer answer is a TransportError
};

struct HttpReply {
  int status = 0;
  HeaderList headers = {};
  std::string body = {};
};

using HttpFetch = std::function<HttpReply(HttpCall, std::stop_token)>;

}  // namespace kube
