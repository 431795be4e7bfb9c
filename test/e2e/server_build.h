// What a real server cannot do because of how it was built.
#pragma once

#include <string>

#include "kube/codec/json.h"
#include "kube/rest/rest_client.h"

namespace kube::e2e {

/// Whether it crashes when a custom resource is written, as releases before 1.23 do when Go 1.18 or
/// later has compiled them. One that apiserver.sh has mended says so in its version.
inline bool fallsOverCustomResources(const RestClient& rest) {
  const Value version = parseJson(rest.get().absPath("/version").raw());
  if (version["gitVersion"].asString().view().ends_with("+reflect2")) return false;
  const std::string go = version["goVersion"].asString().str();  // go1.19.8
  return std::stoi(version["minor"].asString().str()) < 23 && std::stoi(go.substr(4)) >= 18;
}

}  // namespace kube::e2e
