// Attacks on a health port by a client without credentials.
#pragma once

#include <string>
#include <vector>

#include "test/attack/swarm.h"

namespace kube::attack {

struct Attack {
  std::string name;
  SwarmOptions swarm;
};

/// Attacks on plain HTTP, or on TLS and HTTP/2. The caller sets the port.
std::vector<Attack> attacks(bool tls);

}  // namespace kube::attack
