// kubexx-soak: tests informers while everything else fails.
//
//   faults [--seeds N] [--minutes M] [--seed S]   rounds of faults, each from a seed of its own
//   stop [--times N]                              measures how long informers take to stop
//   queue [--rounds N] [--minutes M] [--seed S]   work queues that end while items fall due
//   own-writes [--operations N] [--seed S] [--namespaces K]
//                                                 a CachedClient under faults, with K namespaces
//                                                 that come and go; with KUBECONFIG, a real server
//                                                 without faults
//   informers N [--objects M]                     measures N informers with M objects each
//   namespaces [--changes N] [--seed S]           namespaces that come and go under load
//
// A round that fails prints its seed; KUBEXX_SEED=17 kubexx-soak faults runs that round alone. The
// scheduling of threads differs, so a seed may have to be run more than once. KUBEXX_SOAK_LOAD=0.25
// makes rounds smaller, 2 makes them larger.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/log.h"
#include "kube/cache/internal/namespace_round_testing.h"
#include "kube/cache/internal/stop_scenarios_testing.h"
#include "kube/cache/own_writes_round_testing.h"
#include "kube/workqueue/queue_round_testing.h"
#include "test/soak/many.h"
#include "test/soak/patience.h"
#include "test/soak/round.h"
#include "test/soak/server_process.h"

namespace {

using namespace kube::soak;
using Time = std::chrono::steady_clock;

double seconds(Time::duration time) { return std::chrono::duration<double>(time).count(); }

const char* environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

// Runs a round. Returns whether it found no problem.
bool runOne(std::uint64_t seed, double load) {
  const auto start = Time::now();
  const RoundResult result = runRound({.seed = seed,
                                       .objects = std::max(static_cast<int>(2000 * load), 50),
                                       .changes = std::max(static_cast<int>(4000 * load), 1500)});
  int faults = 0;
  for (const auto& [kind, count] : result.faults) faults += count;
  fmt::print(
      "seed {:>4}: {} changes, {} faults, {} lists, {} watches, {} errors, {} calls of handlers, "
      "longest stop {:.1f} ms; {:.1f} s\n",
      seed, result.changes, faults, result.lists, result.watches, result.errors, result.calls,
      seconds(result.longestStop) * 1e3, seconds(Time::now() - start));
  std::fflush(stdout);
  if (result.problems.empty()) return true;
  for (const std::string& problem : result.problems) fmt::print("  {}\n", problem);
  for (const std::string& informer : result.informers) fmt::print("  {}\n", informer);
  for (const auto& [kind, count] : result.faults) fmt::print("  {} x {}\n", count, kind);
  fmt::print("KUBEXX_SEED={} KUBEXX_SOAK_LOAD={} runs it again\n", seed, load);
  std::fflush(stdout);
  return false;
}

int faults(std::uint64_t seed, int seeds, double minutes) {
  const double load = std::atof(environment("KUBEXX_SOAK_LOAD", kSanitized ? "0.25" : "1"));
  const auto end = Time::now() + std::chrono::duration_cast<Time::duration>(
                                     std::chrono::duration<double>(minutes * 60));
  int failed = 0;
  for (int i = 0; minutes > 0 ? Time::now() < end : i < seeds; ++i) {
    failed += runOne(seed + static_cast<std::uint64_t>(i), load) ? 0 : 1;
  }
  if (failed != 0) fmt::print("{} of the rounds failed\n", failed);
  return failed == 0 ? 0 : 1;
}

int queue(std::uint64_t seed, int rounds, double minutes) {
  const auto end = Time::now() + std::chrono::duration_cast<Time::duration>(
                                     std::chrono::duration<double>(minutes * 60));
  std::uint64_t adds = 0, taken = 0;
  int done = 0, failed = 0;
  for (; minutes > 0 ? Time::now() < end : done < rounds; ++done) {
    const auto result = kube::testing::QueueRound(seed + static_cast<std::uint64_t>(done)).run();
    adds += result.adds;
    taken += result.taken;
    if (result.problems.empty()) continue;
    ++failed;
    for (const std::string& problem : result.problems) {
      fmt::print("seed {}: {}\n", seed + static_cast<std::uint64_t>(done), problem);
    }
    std::fflush(stdout);
  }
  fmt::print("{} queues, {} adds, {} taken, {} rounds failed\n", done, adds, taken, failed);
  return failed == 0 ? 0 : 1;
}

int ownWrites(std::uint64_t seed, int operations, int namespaces) {
  const auto start = Time::now();
  std::unique_ptr<kube::testing::ApiServer> server;
  if (*environment("KUBECONFIG", "") == '\0') {
    server = std::make_unique<kube::testing::ApiServer>(
        kube::testing::ApiServerOptions{.historyWindow = 1000});
  }
  const kube::Config config = server != nullptr ? server->config() : kube::Config::load();
  kube::testing::OwnWritesRound round(
      {.seed = seed, .operations = operations, .namespaces = namespaces}, config, server.get());
  const auto result = round.run();
  fmt::print(
      "seed {}: {} writes, {} failed, {} reads and {} lists of own writes, {} faults, {} problems; "
      "{:.1f} s\n",
      seed, result.writes, result.failed, result.reads, result.listed, result.faults,
      result.problems.size(), seconds(Time::now() - start));
  for (const std::string& problem : result.problems) fmt::print("  {}\n", problem);
  return result.problems.empty() ? 0 : 1;
}

int stop(int times) {
  bool slow = false;
  for (const kube::StopScenario& scenario : kube::stopScenarios()) {
    std::vector<double> took;
    for (int i = 0; i < times; ++i) took.push_back(seconds(scenario.run()) * 1e3);
    std::sort(took.begin(), took.end());
    fmt::print("{:<36} median {:7.2f} ms, longest {:7.2f} ms\n", scenario.name,
               took[took.size() / 2], took.back());
    std::fflush(stdout);
    slow = slow || took[took.size() / 2] > 100;
  }
  return slow ? 1 : 0;
}

int namespaces(std::uint64_t seed, int changes) {
  const ServerProcess server;
  const auto start = Time::now();
  const auto result =
      kube::testing::NamespaceRound(kube::Config::fromKubeconfig(server.kubeconfig()),
                                    {.seed = seed, .changes = changes})
          .run();
  const kube::testing::ProcessUse &before = result.before, &after = result.after;
  fmt::print(
      "{} namespaces added, {} removed; {} writes, {} calls of handlers; threads {} -> {}, "
      "descriptors {} -> {}, kB {} -> {}; {:.1f} s\n",
      result.added, result.removed, result.writes, result.calls, before.threads, after.threads,
      before.descriptors, after.descriptors, before.kilobytes, after.kilobytes,
      seconds(Time::now() - start));
  for (const std::string& problem : result.problems) fmt::print("  {}\n", problem);
  return result.problems.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  // The number after a flag.
  const auto option = [&](std::string_view flag, double otherwise) {
    const auto at = std::find(args.begin(), args.end(), flag);
    return at == args.end() || at + 1 == args.end() ? otherwise : std::atof(at[1].c_str());
  };
  // Errors are expected here.
  if (std::getenv("KUBEXX_LOG") == nullptr) kube::setLogLevel(kube::LogLevel::Off);
  try {
    if (!args.empty() && args[0] == "faults") {
      const char* one = environment("KUBEXX_SEED", nullptr);
      const std::uint64_t seed = one != nullptr ? std::strtoull(one, nullptr, 10)
                                                : static_cast<std::uint64_t>(option("--seed", 1));
      return faults(seed, one != nullptr ? 1 : static_cast<int>(option("--seeds", 20)),
                    one != nullptr ? 0 : option("--minutes", 0));
    }
    if (!args.empty() && args[0] == "stop") {
      return stop(std::max(static_cast<int>(option("--times", 10)), 1));
    }
    if (!args.empty() && args[0] == "queue") {
      return queue(static_cast<std::uint64_t>(option("--seed", 1)),
                   static_cast<int>(option("--rounds", 100)), option("--minutes", 0));
    }
    if (!args.empty() && args[0] == "own-writes") {
      return ownWrites(static_cast<std::uint64_t>(option("--seed", 1)),
                       std::max(static_cast<int>(option("--operations", 100'000)), 8),
                       static_cast<int>(option("--namespaces", 0)));
    }
    if (args.size() >= 2 && args[0] == "informers") {
      return runMany(std::atoi(args[1].c_str()), static_cast<int>(option("--objects", 10)));
    }
    if (!args.empty() && args[0] == "namespaces") {
      return namespaces(static_cast<std::uint64_t>(option("--seed", 1)),
                        static_cast<int>(option("--changes", 2000)));
    }
    fmt::print(stderr,
               "usage: kubexx-soak faults [--seeds N] [--minutes M] [--seed S]\n"
               "       kubexx-soak stop [--times N]\n"
               "       kubexx-soak queue [--rounds N] [--minutes M] [--seed S]\n"
               "       kubexx-soak own-writes [--operations N] [--seed S] [--namespaces K]\n"
               "       kubexx-soak informers N [--objects M]\n"
               "       kubexx-soak namespaces [--changes N] [--seed S]\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kubexx-soak: {}\n", error.what());
    return 1;
  }
}
