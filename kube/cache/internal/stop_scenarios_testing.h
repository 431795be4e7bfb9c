// Informers that are stopped in the middle of an operation: tests assert that they stop, and
// kubexx-soak measures how long that takes.
//
//   for (const StopScenario& scenario : stopScenarios()) scenario.run();
//
// Each scenario brings an informer into its situation, requests a stop, and returns how long run()
// took from then on. None of the situations would end by itself within an hour.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/cache/shared_informer.h"
#include "kube/client/core/v1.h"
#include "kube/codec/json.h"
#include "kube/testing/api_server.h"
#include "kube/testing/scripted_server.h"

namespace kube {

struct StopScenario {
  std::string name;
  std::function<std::chrono::nanoseconds()> run;
};

/// An informer that waits for an hour after every failure.
class StopSubject {
 public:
  using Object = std::shared_ptr<const corev1::ConfigMap>;

  StopSubject(ListWatch<corev1::ConfigMap> source, bool streamed)
      : informer_(std::move(source), options(streamed)) {
    informer_.setTransform([this](corev1::ConfigMap&) { ++decoded_; });
    informer_.addHandler({.onAdd = [this](Object) { ++told_; }});
  }
  StopSubject(const Config& config, bool streamed = true)
      : StopSubject(
            ListWatch<corev1::ConfigMap>::fromClient(Clientset(config).coreV1().configMaps()),
            streamed) {}

  void start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_.run(stop); });
  }
  std::chrono::nanoseconds stop() {
    const auto before = std::chrono::steady_clock::now();
    runner_.request_stop();
    runner_.join();
    return std::chrono::steady_clock::now() - before;
  }
  const SharedInformer<corev1::ConfigMap>& informer() const noexcept { return informer_; }

  /// The counts so far: objects received, callbacks, errors.
  std::uint64_t decoded() const { return decoded_; }
  std::uint64_t told() const { return told_; }
  std::uint64_t errors() const { return informer_.stats().source.errors; }

 private:
  static SharedInformerOptions options(bool streamed) {
    return {.streamList = streamed,
            .backoff = {.initial = std::chrono::hours(1)},
            .onError = [](const std::exception&) {}};
  }

  std::atomic<std::uint64_t> decoded_{0}, told_{0};
  const SharedInformer<corev1::ConfigMap> informer_;
  std::jthread runner_;
};

/// Waits for a condition that has no notification. If it never holds, the test hangs and is ended.
template <class Condition>
void await(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

/// A source with very many objects, and a watch that never ends.
inline ListWatch<corev1::ConfigMap> hugeSource(int objects) {
  using corev1::ConfigMap;
  return {.list =
              [objects](const metav1::ListOptions&, const std::function<void(ConfigMap &&)>& use,
                        const std::stop_token&, Pool&) {
                for (int i = 0; i < objects; ++i) {
                  ConfigMap map;
                  map.metadata.namespace_ = "default";
                  map.metadata.name = fmt::format("map-{}", i);
                  map.metadata.resourceVersion = "5";
                  use(std::move(map));
                }
                return metav1::ListMeta{.resourceVersion = "5"};
              },
          .watch = [](const metav1::ListOptions&, const std::stop_token& stop,
                      Pool&) -> EventSource<ConfigMap> {
            return [stop]() -> std::optional<WatchEvent<ConfigMap>> {
              realClock().sleepFor(std::chrono::hours(1), stop);
              return std::nullopt;
            };
          }};
}

/// An endless answer: a list without an end, or events without an end for a watch.
inline void answerWithoutEnd(const ServerRequest& request, const Responder& responder) {
  const bool watch = request.target.find("watch=true") != std::string::npos;
  responder.stream(
      200, {{"Content-Type", "application/json"}}, [watch, n = 0](std::string& out) mutable {
        if (n == 0 && !watch) {
          out += R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[)";
        }
        for (const int end = n + 200; n < end; ++n) {
          const std::string object = fmt::format(
              R"({{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"map-{}",)"
              R"("namespace":"default","resourceVersion":"5"}},"data":{{"a":"{:>200}"}}}})",
              n, n);
          out += watch ? R"({"type":"ADDED","object":)" + object + "}\n"
                       : (n == 0 ? "" : ",") + object;
        }
        return BodyState::More;
      });
}

inline std::vector<StopScenario> stopScenarios(int manyObjects = 100'000) {
  using testing::ApiServer;
  using testing::Fault;
  const auto failing = [](Fault fault, bool streamed) {
    return [fault, streamed] {
      ApiServer server;
      server.inject(fault);
      StopSubject subject(server.config(), streamed);
      subject.start();
      await([&] { return server.faultsHit() != 0; });
      return subject.stop();
    };
  };
  const auto endless = [](bool streamed) {
    return [streamed] {
      ScriptedServer server{ScriptedServer::RawScript(answerWithoutEnd)};
      StopSubject subject(server.config(), streamed);
      subject.start();
      await([&] { return subject.decoded() > 5000; });
      return subject.stop();
    };
  };
  return {
      {"Watching",
       [] {
         ApiServer server;
         StopSubject subject(server.config());
         subject.start();
         subject.informer().waitForSync();
         return subject.stop();
       }},
      {"WatchingASilentServer",
       [] {
         ApiServer server;
         StopSubject subject(server.config());
         subject.start();
         subject.informer().waitForSync();
         server.goSilent(true);
         return subject.stop();
       }},
      {"ConnectingToAServerThatSaysNothing",
       [] {
         ApiServer server;
         server.goSilent(true);
         StopSubject subject(server.config());
         subject.start();
         await([&] { return server.stats().connectionsAccepted != 0; });
         return subject.stop();
       }},
      {"WaitingAfterAFailure",
       [] {
         ApiServer server;
         server.inject({.status = 500});
         StopSubject subject(server.config());
         subject.start();
         await([&] { return subject.errors() != 0; });
         return subject.stop();
       }},
      {"WaitingAsTheServerAsked", failing({.status = 429, .retryAfter = 3600}, true)},
      {"WaitingForAList", failing({.verb = "list", .hang = true}, false)},
      {"WaitingForAStreamedList", failing({.verb = "watch", .hang = true}, true)},
      {"InTheMiddleOfAList", endless(false)},
      {"InTheMiddleOfAStreamedList", endless(true)},
      {"DistributingManyObjects",
       [manyObjects] {
         StopSubject subject(hugeSource(manyObjects), false);
         subject.start();
         await([&] { return subject.told() != 0; });
         return subject.stop();
       }},
      {"StoringManyObjects",
       [manyObjects] {
         StopSubject subject(hugeSource(manyObjects), false);
         subject.start();
         await([&] { return subject.decoded() == static_cast<std::uint64_t>(manyObjects); });
         return subject.stop();
       }},
  };
}

}  // namespace kube
