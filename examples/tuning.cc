// The settings of a program that runs for long, and the facts it reports about itself.
//
//   tuning [NODE]         caches the pods of a node, or of all nodes

#include <chrono>
#include <iostream>
#include <string>

#include "kube/base/log.h"
#include "kube/base/metrics.h"
#include "kube/cache/core/v1.h"
#include "kube/http/transport.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  using kube::corev1::Pod;
  const std::string node = argc > 1 ? argv[1] : "";
  try {
    kube::setLogLevel(kube::LogLevel::Info);
    kube::setLogSink([](const kube::LogRecord& record) {
      std::clog << kube::formatLogLine(record) + "\n";  // or pass it to your own logging
    });

    kube::Config config = kube::Config::load();
    config.qps = 200;    // requests a second; default 50; negative: no limit
    config.burst = 400;  // requests at once; default 100
    config.userAgent = "tuning/1.0";
    config.tweakTransport = [](kube::TransportOptions& options) {
      options.pingAfter = 10s;           // pings a silent server sooner
      options.streamBuffer = 256 << 10;  // less memory for many slow watches
    };
    const kube::Clientset clients(config);

    kube::SharedInformerFactory factory(
        clients, {.tweakListOptions = [&](kube::metav1::ListOptions& options) {
          if (!node.empty()) options.fieldSelector = "spec.nodeName=" + node;
        }});
    const auto pods = factory.coreV1().pods();
    pods.setTransform([](Pod& pod) {
      pod.metadata.managedFields.clear();
      pod.metadata.annotations.clear();
    });
    factory.start();
    factory.waitForSync();

    const kube::InformerStats stats = pods.stats();
    std::cout << stats.objects << " pods, " << stats.source.events << " changes\n";
    std::cout << factory.describe();

    kube::Counter& seen = kube::defaultMetrics().counter("tuning_runs_total", "How often it ran.");
    seen.add();
    std::cout << kube::defaultMetrics().text();
  } catch (const kube::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
