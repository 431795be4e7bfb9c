// What a client without credentials can do to a health port.
#pragma once

#include <string>
#include <vector>

#include "test/attack/swarm.h"

namespace kube::attack {

struct Attack {
  std::string name;
  SwarmOptions swarm;
};

/// On plain HTTP, or on TLS and HTTP/2. The port is still to be said.
std::vector<Attack> attacks(bool tls);

}  // namespace kube::attack
