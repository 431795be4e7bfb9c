// A controller for takeover_test, with kinds that every server has: for each Secret of the
// namespace it writes a ConfigMap with the same name and the identity of its writer.
#include <fmt/core.h>

#include <chrono>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "kube/base/error.h"
#include "kube/base/signal_stop.h"
#include "kube/client/core/v1.h"
#include "kube/controller/create_or_update.h"
#include "kube/controller/manager.h"
#include "kube/rest/config.h"
#include "test/e2e/takeover/plan.h"

namespace {

using namespace kube;

std::chrono::nanoseconds seconds(const std::string& text) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::stod(text)));
}

// Parses flags in the form in which demo/replica.h passes them: --NAME=VALUE.
std::map<std::string, std::string> flagsOf(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == word.npos)
      throw Error(std::string(word) + ": expected --NAME=VALUE");
    flags.emplace(word.substr(2, equals - 2), word.substr(equals + 1));
  }
  return flags;
}

void run(const std::map<std::string, std::string>& flags) {
  const std::stop_token stop = signalStop();
  const std::string& space = flags.at("namespace");
  Config config = Config::load({.path = flags.at("kubeconfig"), .namespace_ = space});
  config.qps = -1;
  Manager manager(config, {.leaderElection = {.name = "takeover",
                                              .identity = flags.at("identity"),
                                              .leaseDuration = seconds(flags.at("lease-duration")),
                                              .renewDeadline = seconds(flags.at("renew-deadline")),
                                              .retryPeriod = seconds(flags.at("retry-period")),
                                              .releaseOnCancel = true},
                           .informers = {.namespace_ = space}});
  const Clientset clients(config);
  const auto maps = clients.coreV1().configMaps(space);
  auto& secrets = manager.controller<corev1::Secret>("secrets");
  secrets.workers(2).reconcile([&](const ObjectKey& key, const std::stop_token& token) -> Requeue {
    const auto secret = secrets.lister().get(key);
    if (!secret) return {};
    corev1::ConfigMap map;
    map.metadata.namespace_ = key.namespace_;
    map.metadata.name = key.name;
    createOrUpdate(
        maps, map,
        [&] {
          map.metadata.labels[takeover::kPlan] = "true";
          map.metadata.annotations[takeover::kWrittenBy] = flags.at("identity");
          map.data["of"] = secret->metadata.resourceVersion;
        },
        token);
    return {};
  });
  manager.run(stop);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(flagsOf(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "takeover-manager: {}\n", error.what());
    return 1;
  }
}
