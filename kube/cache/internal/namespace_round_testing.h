// An informer whose namespaces come and go while writers change the objects in all of them. Tests
// run a short form of it, kubexx-soak a long one.
//
//   const NamespaceRoundResult result = NamespaceRound(config, {.changes = 1000}).run();
//   EXPECT_TRUE(result.problems.empty());
//
// It adds or removes one namespace at a time, and makes and ends other informers of the same kind
// meanwhile. It checks that the handlers' calls are consistent, that store and handlers agree with
// the server in the end, and that threads, descriptors and memory are as after the first changes.
//
// Thread safety: none.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/internal/sanitizer.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/internal/seen_testing.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/core/v1.h"

namespace kube::testing {

struct NamespaceRoundOptions {
  std::uint64_t seed = 1;
  int changes = 100;   // namespaces added or removed
  int writers = 3;     // threads
  int namespaces = 8;  // that exist
  int objects = 20;    // of each writer in each namespace
};

/// The resources of this process.
struct ProcessUse {
  std::ptrdiff_t threads = 0, descriptors = 0;
  long kilobytes = 0;

  static ProcessUse now() {
    const auto count = [](const char* folder) {
      return std::distance(std::filesystem::directory_iterator(folder), {});
    };
    ProcessUse use{count("/proc/self/task"), count("/proc/self/fd")};
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("VmRSS:")) use.kilobytes = std::stol(line.substr(6));
    }
    return use;
  }
};

struct NamespaceRoundResult {
  int added = 0, removed = 0;
  std::uint64_t writes = 0, calls = 0;
  ProcessUse before, after;
  std::vector<std::string> problems;
};

class NamespaceRound {
 public:
  NamespaceRound(Config config, NamespaceRoundOptions options)
      : options_(options), random_(options.seed), clients_(unlimited(std::move(config))) {
    for (int i = 0; i < options_.namespaces; ++i) {
      corev1::Namespace space;
      space.metadata.name = name(i);
      clients_.coreV1().namespaces().create(space);
    }
    informer_.addHandler(plain_.handler(), {.name = "plain"});
    informer_.addHandler(quick_.handler(), {.name = "quick", .quick = true});
  }

  NamespaceRoundResult run() {
    factory_.start();
    for (int t = 0; t < options_.writers; ++t) {
      writers_.emplace_back([this, t](const std::stop_token& stop) { write(t, stop); });
    }
    changeMany(options_.changes / 10 + 1);
    reset();
    result_.before = ProcessUse::now();
    changeMany(options_.changes);
    for (std::jthread& writer : writers_) writer.request_stop();
    for (std::jthread& writer : writers_) writer.join();
    check("while namespaces come and go");
    reset();
    check("in the end");
    checkResources();
    for (const Seen* seen : {&plain_, &quick_}) {
      if (!seen->wrong().empty()) problem("a handler: " + seen->wrong().substr(0, 1000));
      result_.calls += static_cast<std::uint64_t>(seen->added + seen->updated + seen->deleted);
    }
    result_.writes = writes_;
    factory_.shutdown();
    return result_;
  }

 private:
  using Versions = std::map<std::string, String>;

  static Config unlimited(Config config) {
    config.qps = -1;
    return config;
  }
  static String name(int i) { return String(fmt::format("round-{}", i)); }
  void problem(std::string text) { result_.problems.push_back(std::move(text)); }
  std::uint64_t upTo(int most) { return random_() % static_cast<std::uint64_t>(most); }

  void write(int writer, const std::stop_token& stop) {
    std::mt19937_64 random(options_.seed * 100 + static_cast<std::uint64_t>(writer));
    std::map<std::pair<int, int>, bool> exists;
    while (!stop.stop_requested()) {
      const int space = static_cast<int>(random() % static_cast<unsigned>(options_.namespaces));
      const int which = static_cast<int>(random() % static_cast<unsigned>(options_.objects));
      const auto maps = clients_.coreV1().configMaps(name(space));
      corev1::ConfigMap map;
      map.metadata.name = String(fmt::format("w{}-{}", writer, which));
      map.metadata.labels["tier"] = random() % 2 == 0 ? "front" : "back";
      map.data["value"] = String(std::to_string(random()));
      bool& there = exists[{space, which}];
      const bool removes = there && random() % 4 == 0;
      if (removes) {
        maps.remove(map.metadata.name);
      } else {
        there ? maps.update(map) : maps.create(map);
      }
      there = !removes;
      ++writes_;
    }
  }

  void changeMany(int times) {
    for (int i = 0; i < times; ++i) {
      const String space = name(static_cast<int>(upTo(options_.namespaces)));
      const Strings now = *factory_.namespaces();
      if (std::find(now.begin(), now.end(), space) == now.end()) {
        factory_.addNamespace(space);
        ++result_.added;
      } else {
        factory_.removeNamespace(space);
        ++result_.removed;
      }
      if (i % 4 == 0 && !informer_.waitForSync()) problem("the informer has ended");
      if (i % 8 == 0) other();
    }
  }

  // Another informer comes and goes.
  void other() {
    const auto user = factory_.use<corev1::ConfigMap>({.labelSelector = "tier=front"});
    user->addHandler(EventHandler<corev1::ConfigMap>{.onAdd = [](const auto&) {}});
    factory_.start();
    if (!user->waitForSync()) problem("another informer has ended");
  }

  // Back to the first two namespaces.
  void reset() {
    for (int i = 0; i < options_.namespaces; ++i) {
      i < 2 ? factory_.addNamespace(name(i)) : factory_.removeNamespace(name(i));
    }
    if (!informer_.waitForSync()) problem("the informer has ended");
    const bool gone = eventually(
        [&] { return informer_.store().listIndexFuncValues(kNamespaceIndex).size() <= 2; });
    if (!gone) problem("objects of removed namespaces stay: " + informer_.describe());
  }

  void check(const char* when) {
    informer_.waitForSync();
    Versions expected;
    const Strings spaces = *factory_.namespaces();
    for (const String& space : spaces) {
      for (const auto& map : clients_.coreV1().configMaps(space).list().items) {
        expected[keyOf(map).str()] = map.metadata.resourceVersion;
      }
    }
    const auto held = [&] {
      Versions versions;
      for (const auto& map : informer_.store().list()) {
        versions[keyOf(*map).str()] = map->metadata.resourceVersion;
      }
      return versions;
    };
    if (!eventually([&] { return held() == expected; })) {
      problem(fmt::format("{}: the store has {} objects, the server {}: {}", when, held().size(),
                          expected.size(), informer_.describe()));
    }
    for (Seen* seen : {&plain_, &quick_}) {
      if (eventually([&] { return seen->versions() == expected; })) continue;
      problem(fmt::format("{}: a handler has seen {} objects, the server has {}", when,
                          seen->versions().size(), expected.size()));
    }
  }

  void checkResources() {
    const auto within = [&] {
      result_.after = ProcessUse::now();
      // The writers have ended, but threads for handlers come and go.
      return result_.after.threads <= result_.before.threads &&
             result_.after.descriptors <= result_.before.descriptors &&
             (detail::kSanitized ||
              result_.after.kilobytes <= result_.before.kilobytes * 11 / 10 + 4096);
    };
    if (eventually(within)) return;
    problem(fmt::format("threads {} -> {}, descriptors {} -> {}, kB {} -> {}",
                        result_.before.threads, result_.after.threads, result_.before.descriptors,
                        result_.after.descriptors, result_.before.kilobytes,
                        result_.after.kilobytes));
  }

  const NamespaceRoundOptions options_;
  std::mt19937_64 random_;
  const Clientset clients_;
  Seen plain_, quick_;
  SharedInformerFactory factory_{clients_, {.namespaces = Strings{name(0), name(1)}}};
  const SharedInformer<corev1::ConfigMap> informer_ = factory_.coreV1().configMaps();
  std::atomic<std::uint64_t> writes_ = 0;
  NamespaceRoundResult result_;
  std::vector<std::jthread> writers_;
};

}  // namespace kube::testing
