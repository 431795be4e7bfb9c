// Threads that write through one CachedClient and read their own writes, while a server fails in
// every way it can. A test makes a short round; kubexx-soak makes long ones, also with a real
// server.
//
//   OwnWritesRound round({.seed = 1, .operations = 100'000}, server.config(), &server);
//   const OwnWritesRound::Result result = round.run();
//
// Each thread has names of its own, so it knows the state of its objects after each write that has
// returned: every read has to show exactly that. A write that fails may have happened; its object
// is not checked before the next write of it has returned. All writes name the version that they
// change, so one that is late changes nothing.
//
// The seed determines what the threads do, but not when.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/internal/sanitizer.h"
#include "kube/cache/cached_client.h"
#include "kube/cache/core/v1.h"
#include "kube/client/core/v1.h"
#include "kube/http/transport.h"
#include "kube/testing/api_server.h"

namespace kube::testing {

class OwnWritesRound {
 public:
  struct Options {
    std::uint64_t seed = 1;
    int operations = 100'000;  // of all threads together
    int threads = 8;
    int namespaces = 0;  // 0: one, of an informer of all; otherwise they come and go, too
  };
  struct Result {
    std::uint64_t writes = 0, failed = 0, reads = 0, listed = 0, faults = 0;
    std::vector<std::string> problems;  // texts of the first few
  };

  /// Without `faulty`, the server is left alone.
  OwnWritesRound(const Options& options, const Config& config, ApiServer* faulty)
      : options_(options),
        faulty_(faulty),
        clients_(adapted(config, faulty != nullptr)),
        namespaces_(namesOf(options.namespaces)),
        factory_(clients_,
                 {.namespaces = options.namespaces > 0 ? std::optional(namespaces_) : std::nullopt,
                  .informer = {.backoff = {.initial = kShort, .cap = 10 * kShort},
                               .reconnect = {.initial = kShort, .cap = 10 * kShort},
                               .onError = [](const std::exception&) {}}}) {}

  Result run() {
    for (const String& name : namespaces_) {
      corev1::Namespace space;
      space.metadata.name = name;
      if (!clients_.coreV1().namespaces().find(name)) clients_.coreV1().namespaces().create(space);
    }
    factory_.informerFor<ConfigMap>().addIndexer(
        "owner", [](const ConfigMap& map) { return Strings{map.metadata.labels["owner"]}; });
    factory_.start();
    {
      std::jthread faults;
      if (faulty_ != nullptr) {
        faults = std::jthread([this](const std::stop_token& stop) { fail(stop); });
      }
      std::vector<std::jthread> threads;
      for (int i = 0; i < options_.threads; ++i) {
        threads.emplace_back([this, i] { Owner(*this, i).work(); });
      }
    }
    compareWithServer();
    return result_;
  }

 private:
  using ConfigMap = corev1::ConfigMap;
  static constexpr std::chrono::milliseconds kShort{2};
  static constexpr std::chrono::seconds kPatience{detail::kSanitized ? 120 : 40};
  static constexpr std::size_t kShown = 20;
  static constexpr int kNames = 12;  // of each thread

  /// An object as its owner knows it.
  struct Known {
    std::string name;
    std::optional<ConfigMap> object = {};
    bool sure = true;
  };

  class Owner {
   public:
    Owner(OwnWritesRound& round, int number)
        : round_(round),
          namespace_(
              round.namespaces_[static_cast<std::size_t>(number) % round.namespaces_.size()]),
          name_(fmt::format("soak-{}-{}", round.options_.seed, number)),
          random_(round.options_.seed * 1000 + static_cast<std::uint64_t>(number)) {
      for (int i = 0; i < kNames; ++i) known_.push_back({fmt::format("{}-{}", name_, i)});
    }

    void work() {
      for (int i = 0; i < round_.options_.operations / round_.options_.threads; ++i) {
        Known& known = known_[random_() % known_.size()];
        const bool written = change(known);
        ++(written ? writes_ : failed_);
        check(known);
        if (random_() % 4 == 0) checkList();
      }
      for (Known& known : known_) clear(known);
      const std::lock_guard lock(round_.resultMutex_);
      round_.result_.writes += writes_;
      round_.result_.failed += failed_;
      round_.result_.reads += reads_;
      round_.result_.listed += lists_;
    }

   private:
    // Returns whether the write has returned without an error.
    bool change(Known& known) {
      if (!known.sure) {
        known.object = round_.insist([&] { return round_.live(namespace_).find(known.name); })
                           .value_or(std::nullopt);
      }
      try {
        write(known);
        known.sure = true;
      } catch (const ApiError& error) {
        // An earlier try of the same call has deleted it.
        known.sure = known.sure && known.object && isNotFound(error);
        if (known.sure) known.object.reset();
        return false;
      } catch (const Error&) {
        known.sure = false;
        return false;
      }
      return true;
    }

    void write(Known& known) {
      const auto maps = round_.maps(namespace_);
      const std::string value = std::to_string(random_());
      if (!known.object) {
        ConfigMap made;
        made.metadata.name = known.name;
        made.metadata.labels["owner"] = name_;
        if (random_() % 8 == 0) made.metadata.finalizers = {"example.com/soak"};
        made.data["value"] = value;
        known.object = random_() % 2 == 0 ? maps.create(made) : blockOn(maps.async().create(made));
        return;
      }
      ConfigMap changed = *known.object;
      const auto kind = random_() % 10;
      if (!changed.metadata.deletionTimestamp.isZero()) {
        changed.metadata.finalizers = {};
        maps.update(changed);
        known.object.reset();
      } else if (kind < 4) {
        changed.data["value"] = value;
        known.object = maps.update(changed);
      } else if (kind < 7) {
        known.object = maps.patch(
            known.name, PatchType::Merge,
            fmt::format(R"({{"metadata": {{"resourceVersion": "{}"}}, "data": {{"value": "{}"}}}})",
                        changed.metadata.resourceVersion, value));
      } else {
        metav1::DeleteOptions exactly;
        exactly.preconditions->uid = changed.metadata.uid;
        exactly.preconditions->resourceVersion = changed.metadata.resourceVersion;
        random_() % 2 == 0 ? maps.remove(known.name, exactly)
                           : blockOn(maps.async().remove(known.name, exactly));
        known.object.reset();
        if (changed.metadata.finalizers.empty()) return;
        const auto read = round_.insist([&] { return round_.live(namespace_).find(known.name); });
        if (read) known.object = *read;
      }
    }

    void check(const Known& known) {
      if (!known.sure) return;
      const auto maps = round_.maps(namespace_);
      const auto read = round_.insist([&] {
        return random_() % 4 == 0 ? blockOn(maps.async().find(known.name)) : maps.find(known.name);
      });
      ++reads_;
      if (!read) return;
      compare(known, *read ? &**read : nullptr, "find");
    }

    void checkList() {
      const auto maps = round_.maps(namespace_);
      const bool byIndex = random_() % 2 == 0;
      const auto read = round_.insist([&] {
        return byIndex ? maps.byIndex("owner", name_)
                       : maps.list({.labelSelector = "owner=" + name_});
      });
      ++lists_;
      if (!read) return;
      std::map<std::string, const ConfigMap*> listed;
      for (const auto& object : *read) {
        if (!listed.emplace(object->metadata.name.str(), object.get()).second) {
          round_.problem(fmt::format("{} is twice in a list", object->metadata.name));
        }
      }
      for (const Known& known : known_) {
        if (!known.sure) continue;
        const auto found = listed.find(known.name);
        compare(known, found != listed.end() ? found->second : nullptr,
                byIndex ? "byIndex" : "list");
      }
    }

    void compare(const Known& known, const ConfigMap* read, std::string_view how) {
      const auto describe = [](const ConfigMap* map) {
        return map == nullptr ? std::string("none")
                              : fmt::format("version {}, uid {}", map->metadata.resourceVersion,
                                            map->metadata.uid);
      };
      const ConfigMap* const wanted = known.object ? &*known.object : nullptr;
      const bool same =
          read == nullptr || wanted == nullptr
              ? read == wanted
              : read->metadata.uid == wanted->metadata.uid &&
                    read->metadata.resourceVersion == wanted->metadata.resourceVersion &&
                    read->data == wanted->data;
      if (same) return;
      round_.problem(fmt::format("{}: {} shows {}, and not {}", known.name, how, describe(read),
                                 describe(wanted)));
    }

    void clear(const Known& known) {
      const ResourceClient<ConfigMap> live = round_.live(namespace_);
      round_.insist([&] {
        std::optional<ConfigMap> left = live.find(known.name);
        if (!left) return true;
        left->metadata.finalizers = {};
        live.update(*left);
        live.remove(known.name);
        return true;
      });
    }

    OwnWritesRound& round_;
    const String namespace_;
    const std::string name_;
    std::mt19937_64 random_;
    std::vector<Known> known_;
    std::uint64_t writes_ = 0, failed_ = 0, reads_ = 0, lists_ = 0;
  };

  static Config adapted(Config config, bool impatient) {
    config.qps = -1;
    if (!impatient) return config;
    config.tweakTransport = [](TransportOptions& options) {
      options.connectTimeout = std::chrono::milliseconds(500);
      options.pingAfter = std::chrono::milliseconds(200);
      options.pingTimeout = std::chrono::milliseconds(300);
    };
    return config;
  }
  static Strings namesOf(int namespaces) {
    Strings names{"default"};
    for (int i = 1; i < namespaces; ++i) names.push_back(fmt::format("soak-{}", i));
    return names;
  }
  CachedResourceClient<ConfigMap> maps(const String& namespaceName) const {
    return cached_.resource<ConfigMap>(namespaceName);
  }
  ResourceClient<ConfigMap> live(const String& namespaceName) const {
    return clients_.coreV1().configMaps(namespaceName);
  }

  /// Calls until there is no error. Returns none, and notes a problem, if that takes too long.
  template <class Call>
  auto insist(Call call) -> std::optional<decltype(call())> {
    const auto deadline = realClock().deadlineAfter(kPatience);
    for (;;) {
      try {
        return call();
      } catch (const Error& error) {
        if (realClock().now() >= deadline) {
          problem(fmt::format("a call fails for too long: {}", error.what()));
          return std::nullopt;
        }
      }
      realClock().sleepFor(kShort);
    }
  }
  void problem(std::string text) {
    const std::lock_guard lock(resultMutex_);
    if (result_.problems.size() < kShown) result_.problems.push_back(std::move(text));
  }

  void compareWithServer() {
    for (const String& name : namespaces_) compareWithServer(name);
  }
  void compareWithServer(const String& namespaceName) {
    const auto listed = insist([&] { return live(namespaceName).list(); });
    if (!listed) return;
    const auto deadline = realClock().deadlineAfter(kPatience);
    const auto& store = factory_.informerFor<ConfigMap>().store();
    bool same = false;
    while (!same && realClock().now() < deadline) {
      std::size_t found = 0;
      const auto cached = maps(namespaceName).list();
      for (const auto& item : listed->items) {
        const auto object = store.getByKey(namespaceName, item.metadata.name);
        found += object != nullptr && *object == item ? 1 : 0;
      }
      same = found == listed->items.size() && cached.size() == found;
      if (!same) realClock().sleepFor(kShort);
    }
    if (!same) problem("in the end, the cache differs from the server");
  }

  void fail(const std::stop_token& stop) {
    std::mt19937_64 random(options_.seed);
    const auto upTo = [&](int most) {
      return static_cast<int>(random() % static_cast<unsigned>(most)) + 1;
    };
    constexpr WatchFault kWatchFaults[] = {WatchFault::End,        WatchFault::Cut,
                                           WatchFault::CutInFrame, WatchFault::Garbage,
                                           WatchFault::Silence,    WatchFault::Expire};
    constexpr const char* kVerbs[] = {"watch", "list",   "create", "update",
                                      "patch", "delete", "get"};
    constexpr int kCodes[] = {410, 429, 500, 503};
    std::uint64_t faults = 0;
    while (realClock().sleepFor(std::chrono::milliseconds(upTo(20)), stop)) {
      ++faults;
      const int kind = upTo(100);
      if (kind <= 40) {
        faulty_->failWatches(kWatchFaults[upTo(6) - 1]);
      } else if (kind <= 80) {
        Fault fault{.verb = kVerbs[upTo(7) - 1], .resource = "configmaps", .times = upTo(3)};
        const int how = upTo(6);
        fault.cut = how == 1;
        fault.cutInBody = how == 2;
        fault.garbage = how == 3;
        if (how == 4) fault.status = kCodes[upTo(4) - 1];
        if (how >= 5) fault.delay = std::chrono::milliseconds(upTo(100));
        faulty_->inject(fault);
      } else if (kind <= 88) {
        faulty_->expireRevisions();
        faulty_->failWatches(WatchFault::Cut);
      } else if (kind <= 94) {
        faulty_->restart();
      } else if (kind <= 96) {
        faulty_->goSilent(true);
        realClock().sleepFor(std::chrono::milliseconds(upTo(400)), stop);
        faulty_->goSilent(false);
      } else if (kind <= 98 && options_.namespaces > 0) {
        const String& name = namespaces_[random() % namespaces_.size()];
        factory_.removeNamespace(name);
        realClock().sleepFor(std::chrono::milliseconds(upTo(20)), stop);
        factory_.addNamespace(name);
      } else {
        faulty_->forgetAll();
      }
    }
    faulty_->forgetAll();
    faulty_->restart();  // ends watches that have fallen silent
    const std::lock_guard lock(resultMutex_);
    result_.faults = faults;
  }

  const Options options_;
  ApiServer* const faulty_;
  const Clientset clients_;
  const Strings namespaces_;
  SharedInformerFactory factory_;
  const CachedClient cached_{clients_, factory_};
  std::mutex resultMutex_;
  Result result_;
};

}  // namespace kube::testing
