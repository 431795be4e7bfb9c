// Configurations with which benchmarks reach their server.
#pragma once

#include <fmt/core.h>

#include <string>

#include "kube/base/error.h"
#include "kube/rest/config.h"

namespace kube::bench {

/// Loads the configuration, without a limit of requests a second.
inline Config unlimited() {
  Config config = Config::load();
  config.qps = -1;
  return config;
}

/// The same for one format: "proto" or "json".
inline Config configFor(const std::string& mode) {
  if (mode != "proto" && mode != "json") {
    throw Error(fmt::format("{}: unknown mode, expected proto or json", mode));
  }
  Config config = unlimited();
  if (mode == "json") config.contentType = "application/json";
  return config;
}

}  // namespace kube::bench
