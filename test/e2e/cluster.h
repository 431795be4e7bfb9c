// The cluster that ./dev e2e has started, at $KUBEXX_E2E_CLUSTER. Tests may break it.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kube/base/error.h"
#include "test/soak/patience.h"

namespace kube::e2e {

class Cluster {
 public:
  static bool isThere() { return std::getenv("KUBEXX_E2E_CLUSTER") != nullptr; }
  void kill() const { run("kill"); }
  /// Starts the API server if it does not run, also after a crash.
  void start() const { run("start"); }
  void compact() const { run("compact"); }

 private:
  static void run(const std::string& what) {
    const std::string command =
        fmt::format("test/e2e/cluster.sh {} '{}'", what, std::getenv("KUBEXX_E2E_CLUSTER"));
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
};

/// Calls a function until it does not throw. Starts the server again if it has crashed: releases
/// before 1.23 may crash at any time.
template <class Act>
bool insist(const Cluster& cluster, Act act) {
  return soak::eventually([&] {
    try {
      act();
      return true;
    } catch (const Error&) {
      if (Cluster::isThere()) cluster.start();
      return false;
    }
  });
}

}  // namespace kube::e2e
