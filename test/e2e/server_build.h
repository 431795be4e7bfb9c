// Defects of a real server that depend on its build.
#pragma once

#include <string>

#include "kube/codec/json.h"
#include "kube/rest/rest_client.h"

namespace kube::e2e {

/// Returns whether the server crashes when a custom resource is written, as releases before 1.23 do
/// if Go 1.18 or later has compiled them. apiserver.sh marks the version of servers that it has
/// repaired.
inline bool fallsOverCustomResources(const RestClient& rest) {
  const Value version = parseJson(rest.get().absPath("/version").raw());
  if (version["gitVersion"].asString().view().ends_with("+reflect2")) return false;
  const std::string go = version["goVersion"].asString().str();  // go1.19.8
  return std::stoi(version["minor"].asString().str()) < 23 && std::stoi(go.substr(4)) >= 18;
}

}  // namespace kube::e2e
