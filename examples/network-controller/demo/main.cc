// network-demo: shows the sample operator at work, in less than a minute. `./dev demo` runs it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>

#include "examples/network-controller/demo/stage.h"
#include "examples/network-controller/ipv4_block.h"
#include "kube/base/clock.h"
#include "kube/base/signal_stop.h"
#include "kube/client/retry.h"
#include "kube/meta/object_key.h"

namespace {

using namespace std::chrono_literals;
using network::Ipv4Block;
using network::Replica;
using network::Stage;

constexpr int kRush = 5;

void require(bool holds, std::string_view what) {
  if (!holds) throw kube::Error(fmt::format("check failed: {}", what));
}

// Checks the invariants that hold whenever the controller has nothing left to do.
void check(Stage& stage, std::size_t ready) {
  const auto plans = stage.allPlans();
  require(plans.size() == ready, fmt::format("expected {} plans, found {}", ready, plans.size()));
  std::vector<Ipv4Block> blocks;
  for (const auto& plan : plans) blocks.push_back(Ipv4Block::parse(plan->data["cidr"]));
  std::ranges::sort(blocks);
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    require(!blocks[i - 1].overlaps(blocks[i]), "no two plans overlap");
  }
  stage.done(fmt::format("{} Networks have a plan, and no two overlap", ready));
}

void list(Stage& stage) {
  stage.row(fmt::format("{:<10} {:<16} {:<16} {:<14} {}", "NETWORK", "WANTS", "CIDR", "GATEWAY",
                        "READY"));
  auto all = stage.allNetworks();
  std::ranges::sort(all, {}, [](const auto& network) { return network->metadata.name; });
  for (const auto& network : all) {
    if (network->metadata.name.view().starts_with("rush-")) continue;
    stage.row(fmt::format("{:<10} {:<16} {:<16} {:<14} {}", network->metadata.name,
                          network->spec->cidr, network->status->cidr, network->status->gateway,
                          stage.reasonOf(network->metadata.name)));
  }
}

void play(Stage& stage, bool keep) {
  stage.title(
      "Two copies of the controller, ada and bob, as processes. One leads, the other stands by");
  auto ada = stage.startReplica("ada");
  stage.waitUntil("a leader", [&] { return stage.leader() == "ada"; });
  auto bob = stage.startReplica("bob");

  stage.title("Four Networks. Two ask for certain addresses, two only for a number of them");
  stage.create("office", "192.168.0.0/16", "192.168.0.254");
  stage.create("campus", "172.16.0.0/12");
  stage.create("lab", "/24");
  stage.create("guests", "/22");
  for (const char* name : {"office", "campus", "lab", "guests"}) {
    stage.waitForReason(name, "Allocated");
  }
  stage.waitUntil("their plans", [&] { return stage.allPlans().size() == 4; });
  check(stage, 4);

  stage.title(
      "One asks for addresses of office, one has a typo: each gets a condition and an event");
  stage.create("branch", "192.168.4.0/24");
  stage.create("typo", "10.0.0/8");
  stage.waitForReason("branch", "Overlap");
  stage.waitForReason("typo", "InvalidCidr");

  stage.pause();
  stage.title("Somebody edits a plan by hand");
  const auto before = stage.maps().get("network-lab");
  auto edited = before;
  edited.data["cidr"] = "0.0.0.0/0";
  stage.maps().update(edited);
  stage.waitUntil("the plan", [&] { return stage.maps().get("network-lab").data == before.data; });
  stage.done("the controller has repaired it");

  stage.pause();
  stage.title("office moves to other addresses, and branch gets those it was waiting for");
  stage.change("office", "10.200.0.0/16");
  stage.waitForReason("branch", "Allocated");
  stage.waitForReason("office", "Allocated");

  stage.pause();
  stage.title(fmt::format("The leader is killed (SIGKILL), and {} more Networks are made", kRush));
  const auto killed = std::chrono::steady_clock::now();
  ada->kill();
  for (int i = 0; i < kRush; ++i) stage.create(fmt::format("rush-{}", i), "/26");
  stage.waitUntil("another leader", [&] { return stage.leader() == "bob"; });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - killed;
  for (int i = 0; i < kRush; ++i) stage.waitForReason(fmt::format("rush-{}", i), "Allocated");
  stage.waitUntil("their plans", [&] { return stage.allPlans().size() == 5 + kRush; });
  stage.done(fmt::format("bob took over after {:.1f} s (the lease lasts 3 s), and did the work",
                         took.count()));
  check(stage, 5 + kRush);

  stage.pause();
  stage.title("ada starts again; bob is told to end (SIGTERM), and hands over at once");
  ada = stage.startReplica("ada");
  kube::realClock().sleepFor(700ms);
  const int status = bob->terminate();
  require(status == 0, "bob ended with status 0");
  stage.waitUntil("the leader", [&] { return stage.leader() == "ada"; });

  stage.pause();
  stage.title("The result");
  list(stage);
  if (keep) {
    stage.title("The cluster stays up until Ctrl-C. Try these:");
    for (const char* command : {"get networks", "get configmaps", "describe network branch",
                                "delete network guests", "get events"}) {
      stage.row(fmt::format("kubectl --kubeconfig {} -n {} {}", stage.kubeconfig(), stage.space(),
                            command));
    }
    kube::realClock().sleepUntil(kube::Clock::noDeadline, kube::signalStop());
    return;
  }

  stage.pause();
  stage.title("All Networks are deleted: each is gone once its addresses are free");
  for (const auto& network : stage.networks().list().items) {
    stage.networks().remove(network.metadata.name);
  }
  stage.waitUntil("the end of all Networks",
                  [&] { return stage.allNetworks().empty() && stage.allPlans().empty(); });
  stage.done("no Network and no plan is left");
  require(ada->terminate() == 0, "ada ended with status 0");
}

}  // namespace

int main(int argc, char** argv) {
  bool keep = false;
  network::StageOptions options;
  CLI::App app("Shows the sample operator at work");
  app.add_flag("--keep", keep, "keep the cluster up until Ctrl-C");
  app.add_flag("--cluster", options.cluster, "use the cluster of $KUBECONFIG");
  CLI11_PARSE(app, argc, argv);
  kube::setLogLevel(kube::LogLevel::Off);
  kube::signalStop();
  try {
    const auto begun = std::chrono::steady_clock::now();
    Stage stage(options);
    play(stage, keep);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    stage.title(fmt::format("The demo took {:.1f} s", took.count()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "\nnetwork-demo: {}\n", error.what());
    return 1;
  }
}
