// Checks generated code of any definition: objects survive a round trip through their type, with
// and without a server, and the type gives its definition back.
#pragma once

#include <string>
#include <vector>

#include "kube/meta/scheme.h"

namespace kube::crds {

struct RoundTrip {
  std::vector<std::string> problems = {};
  std::size_t definitions = 0;
  std::size_t versions = 0;
  std::size_t bytes = 0;  // of the sample objects
};

/// Checks all definitions in files or folders. The scheme has their types.
RoundTrip roundTrip(const Scheme& scheme, const std::vector<std::string>& paths);

}  // namespace kube::crds
