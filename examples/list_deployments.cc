// Lists deployments as `kubectl get deployments` does.
//
//   list_deployments [NAMESPACE]      default: all namespaces

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "kube/client/apps/v1.h"

namespace {

// "45s", "12m", "7h", "3d": in the largest unit of which there are at least two.
std::string age(kube::Time since) {
  const auto past = kube::Time::now().unixSeconds() - since.unixSeconds();
  if (past < 120) return fmt::format("{}s", std::max<std::int64_t>(past, 0));
  if (past < 2 * 3600) return fmt::format("{}m", past / 60);
  if (past < 2 * 86400) return fmt::format("{}h", past / 3600);
  return fmt::format("{}d", past / 86400);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const kube::Clientset clients(kube::Config::load());
    const auto list = clients.appsV1().deployments(argc > 1 ? argv[1] : "").list();
    constexpr const char* kRow = "{:<20} {:<32} {:>7} {:>11} {:>10} {:>6}\n";
    fmt::print(kRow, "NAMESPACE", "NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE");
    for (const auto& d : list.items) {
      fmt::print(kRow, d.metadata.namespace_, d.metadata.name,
                 fmt::format("{}/{}", d.status->readyReplicas, d.spec->replicas.value_or(1)),
                 d.status->updatedReplicas, d.status->availableReplicas,
                 age(d.metadata.creationTimestamp));
    }
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
