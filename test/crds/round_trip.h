// What holds for all generated code, whatever the definition: objects survive their type, with and
// without a server between, and the type gives its definition back.
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

/// Of all definitions in files or folders; the scheme has their types.
RoundTrip roundTrip(const Scheme& scheme, const std::vector<std::string>& paths);

}  // namespace kube::crds
