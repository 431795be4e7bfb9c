// How benchmarks reach their server.
#pragma once

#include <fmt/core.h>

#include <string>

#include "kube/base/error.h"
#include "kube/rest/config.h"

namespace kube::bench {

/// Without a limit of its own.
inline Config unlimited() {
  Config config = Config::load();
  config.qps = -1;
  return config;
}

/// In one format.
inline Config configFor(const std::string& mode) {
  if (mode != "proto" && mode != "json") {
    throw Error(fmt::format("{}: the mode is proto or json", mode));
  }
  Config config = unlimited();
  if (mode == "json") config.contentType = "application/json";
  return config;
}

}  // namespace kube::bench
