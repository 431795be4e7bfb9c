// Sockets that listen on ports of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "kube/http/internal/descriptor.h"

namespace kube::detail {

/// Listens on an IP address; `port` becomes the port that the socket has, if it is 0. Throws Error.
int listenOn(const std::string& address, std::uint16_t& port);

}  // namespace kube::detail
