// network-controller: gives Networks their addresses; see network_controller.h. `./dev demo` shows
// it at work. To run it on a cluster, in this folder:
//
//   docker build -f Dockerfile -t network-controller ../..    # and push it to a registry
//   kubectl apply -f deploy/crd.yaml -f deploy/rbac.yaml -f deploy/deployment.yaml
//   kubectl apply -f deploy/network.yaml && kubectl get networks
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <string>

#include "examples/network-controller/network_controller.h"
#include "kube/base/log.h"
#include "kube/base/signal_stop.h"
#include "kube/controller/manager.h"
#include "kube/rest/config.h"

namespace {

std::chrono::nanoseconds seconds(double value) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(value));
}

struct Flags {
  std::string kubeconfig;
  std::string namespace_;
  std::string identity;
  std::string listen;
  std::string pool = "10.0.0.0/8";
  int workers = 2;
  double leaseDuration = 15;
  double renewDeadline = 10;
  double retryPeriod = 2;
};

kube::HttpServerOptions addressOf(const std::string& listen) {
  const std::size_t colon = listen.rfind(':');
  if (colon == std::string::npos) {
    throw kube::ConfigError("--listen \"" + listen + "\": expected ADDRESS:PORT");
  }
  return {.address = listen.substr(0, colon),
          .port = static_cast<std::uint16_t>(std::stoi(listen.substr(colon + 1)))};
}

void run(const Flags& flags) {
  const std::stop_token stop = kube::signalStop();
  kube::Config config =
      kube::Config::load({.path = flags.kubeconfig, .namespace_ = flags.namespace_});
  config.qps = -1;  // no limit: the server's priority and fairness decides

  kube::ManagerOptions options{.leaderElection = {.name = "network-controller",
                                                  .identity = flags.identity,
                                                  .leaseDuration = seconds(flags.leaseDuration),
                                                  .renewDeadline = seconds(flags.renewDeadline),
                                                  .retryPeriod = seconds(flags.retryPeriod),
                                                  .releaseOnCancel = true},
                               .readyNeedsServer = true};
  if (!flags.listen.empty()) options.http = addressOf(flags.listen);
  kube::Manager manager(config, std::move(options));
  network::NetworkController networks(
      manager, {.pool = network::Ipv4Block::parse(flags.pool), .workers = flags.workers});
  manager.run(stop);
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Gives every Network (networks.samplecrd.k8s.io) addresses that no other has");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "the kubeconfig; default: $KUBECONFIG, or the pod's service account");
  app.add_option("--namespace", flags.namespace_,
                 "the namespace of the lease; default: the kubeconfig's or the pod's");
  app.add_option("--identity", flags.identity, "the name of this copy; default: a random one");
  app.add_option("--listen", flags.listen, "ADDRESS:PORT of /healthz, /readyz and /metrics");
  app.add_option("--pool", flags.pool, "the addresses for blocks that are requested by size")
      ->capture_default_str();
  app.add_option("--workers", flags.workers)->capture_default_str();
  app.add_option("--lease-duration", flags.leaseDuration, "seconds")->capture_default_str();
  app.add_option("--renew-deadline", flags.renewDeadline, "seconds")->capture_default_str();
  app.add_option("--retry-period", flags.retryPeriod, "seconds")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (kube::logLevel() < kube::LogLevel::Info) kube::setLogLevel(kube::LogLevel::Info);
  try {
    run(flags);
  } catch (const std::exception& error) {
    fmt::print(stderr, "network-controller: {}\n", error.what());
    return 1;
  }
}
