// A RawServer that has agreed on HTTP/2.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "kube/http/internal/raw_server_testing.h"
#include "kube/http/internal/transport_ca_testing.h"

namespace kube {

inline const KeyPair& identity() {
  static const KeyPair made = ca().server({"127.0.0.1"});
  return made;
}

inline constexpr std::string_view kEmptySettings("\0\0\0\4\0\0\0\0\0", 9);

// A server that agrees on HTTP/2 and then does what the script says.
inline RawServer http2Server(RawServer::Script script) {
  return RawServer([script = std::move(script)](RawConnection& connection, int number) {
    if (connection.acceptTls(identity().certPem, identity().keyPem, "h2"))
      script(connection, number);
  });
}

// Reads the next request. Returns its stream, or 0 when the client is gone.
inline int nextRequest(RawConnection& connection) {
  for (;;) {
    const std::string head = connection.readExactly(9);
    if (head.size() < 9) return 0;
    const auto byte = [&](int i) {
      return static_cast<unsigned char>(head[static_cast<std::size_t>(i)]);
    };
    connection.readExactly(static_cast<std::size_t>(byte(0) << 16 | byte(1) << 8 | byte(2)));
    if (byte(3) == 1) return byte(7) << 8 | byte(8);
  }
}

}  // namespace kube
