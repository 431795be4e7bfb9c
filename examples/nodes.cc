// A controller with keys and sources of its own: it counts the pods of each node.
//
//   nodes [NODE...]      prints the number of pods of a node when one of them comes, changes or
//   goes,
//                        and that of the given nodes once a minute; in the first ten
//                        minutes also when the labels of a node change
#include <fmt/core.h>

#include <algorithm>

#include "kube/controller/keyed_controller.h"
#include "kube/kube.h"

namespace {

using namespace std::chrono_literals;
using kube::corev1::Node;
using kube::corev1::Pod;
using Names = std::vector<kube::String>;

Names nodeOf(const Pod& pod) {
  if (pod.spec->nodeName.empty()) return {};
  return {pod.spec->nodeName};
}

// Asks for a node that is not ready again and again, with growing pauses.
kube::Task<> remind(kube::KeyChannel<kube::String> asked, kube::String node) {
  for (auto pause = 1s; pause < 1min; pause *= 2) {
    const bool slept = co_await kube::sleepFor(pause);
    if (!slept) co_return;
    const bool pushed = co_await asked.async().push(node);
    if (!pushed) co_return;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const Names asked(argv + 1, argv + argc);
  kube::Manager manager(kube::Config::load());

  auto& nodes = manager.controller<Pod, kube::String>("nodes");
  const auto pods = nodes.lister();
  nodes.keyedBy(nodeOf).filter(kube::resourceVersionChanged).every(1min, [asked] { return asked; });

  const kube::KeyChannel<kube::String> reminders("reminders", {.capacity = 100});
  nodes.source(reminders).source("first reminders", [&](kube::SourceQueue<kube::String>) {
    return remind(reminders, asked.empty() ? kube::String("none") : asked.front());
  });

  nodes.workers(2).reconcileTimeout(10s).reconcile([pods](const kube::ReconcileContext& context,
                                                          const kube::String& node) {
    if (node == "none") throw kube::TerminalError("this is not the name of a node");
    const auto all = pods.list();
    const auto count =
        std::ranges::count_if(all, [&](const auto& pod) { return pod->spec->nodeName == node; });
    context.log.info("attempt {}: {}", context.attempt, context.why());
    fmt::print("{}: {} pods\n", node, count);
  });

  manager.add("labels of nodes", [&](const std::stop_token& stop) {
    const kube::ControllerSource labels = nodes.addWatches<Node>(
        [](const Node& node) { return Names{node.metadata.name}; }, kube::labelsChanged);
    kube::realClock().sleepFor(10min, stop);
    labels.drop();
  });
  manager.run(kube::signalStop());
} catch (const kube::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
