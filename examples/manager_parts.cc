// A manager with the parts that larger operators need: two clusters, a controller on every copy,
// events, and metrics on a port of their own, for permitted readers.
//
//   manager_parts CONTEXT CERT KEY      CONTEXT: of the second cluster, in the kubeconfig
//                                       CERT, KEY: files with the certificate of the metrics port

#include <fmt/core.h>

#include "kube/kube.h"

namespace {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::corev1::ConfigMap;

// Copies of a ConfigMap have its name, so a change in the other cluster is one of that name here.
std::vector<ObjectKey> sameName(const ConfigMap& map) { return {kube::keyOf(map)}; }

kube::ManagerOptions optionsFor(const char* cert, const char* key) {
  kube::ManagerOptions options;
  options.leaderElection.name = "manager-parts";
  options.cacheSyncTimeout = 1min;
  options.http = kube::HttpServerOptions{.address = "0.0.0.0", .port = 8080};
  options.metricsHttp = kube::HttpServerOptions{
      .tls = kube::ServerTls{.certFile = cert, .keyFile = key}, .address = "0.0.0.0", .port = 8443};
  options.metricsReaders = kube::AccessReviewOptions{};
  options.debugPage = true;
  return options;
}

void run(const char* context, const char* cert, const char* key) {
  kube::Manager manager(kube::Config::load(), optionsFor(cert, key));
  kube::Cluster& west = manager.addCluster("west", kube::Config::load({.context = context}));
  kube::EventRecorder& events = manager.events("manager-parts");
  const auto theirs = west.informers().informerFor<ConfigMap>();

  auto& differences = manager.controller<ConfigMap>("differences");
  differences.watches(theirs, sameName).reconcile([&, theirs](const ObjectKey& name) {
    const auto here = differences.lister().get(name);
    const auto there = theirs.lister().get(name);
    if (!here || !there || here->data == there->data) return;
    events.warning(*here, "Different", "the cluster west has other data");
  });
  manager.controller<kube::corev1::Namespace>("namespaces", kube::RunsOn::Every)
      .reconcile([](const ObjectKey& name) { fmt::print("namespace {}\n", name); });

  manager.addPage("/clusters", [](const kube::ServerRequest&, const kube::Responder& responder) {
    responder.send({.body = "here\nwest\n"});
  });
  manager.run(kube::signalStop());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: {} CONTEXT CERT KEY\n", argv[0]);
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3]);
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
