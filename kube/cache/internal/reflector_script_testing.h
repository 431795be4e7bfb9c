// A scripted source for a reflector: each call is answered by the next step of the script. The
// reflector has a clock that the test drives.
#pragma once

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/api/core/v1.h"
#include "kube/base/clock.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/cache/reflector.h"
#include "kube/cache/store.h"
#include "kube/meta/api_error.h"

namespace kube::scripted {

// The vocabulary of these tests: a test file says `using namespace scripted`.
using namespace std::chrono_literals;
using corev1::Pod;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

inline Pod podAt(std::string_view name, std::string_view version) {
  Pod result;
  result.metadata.namespace_ = "book";
  result.metadata.name = name;
  result.metadata.resourceVersion = version;
  return result;
}
inline WatchEvent<Pod> event(EventType type, std::string_view name, std::string_view version) {
  return {type, podAt(name, version), {}};
}
inline WatchEvent<Pod> bookmark(std::string_view version, bool endsInitialEvents = false) {
  WatchEvent<Pod> result{EventType::Bookmark, {}, {}};
  result.object.metadata.resourceVersion = version;
  if (endsInitialEvents) {
    result.object.metadata.annotations["k8s.io/initial-events-end"] = "true";
  }
  return result;
}
inline WatchEvent<Pod> failure(metav1::Status status) {
  return {EventType::Error, {}, std::move(status)};
}

// Answers the calls of a reflector by the steps of a script.
class Script {
 public:
  struct List {
    std::vector<Pod> pods = {};
    std::string version = {};
    std::string next = {};               // the continue token
    std::exception_ptr error = nullptr;  // thrown after the pods
  };
  struct Watch {
    std::vector<WatchEvent<Pod>> events = {};
    std::exception_ptr error = nullptr;  // thrown after the events
    std::exception_ptr refused = nullptr;
    bool stays = false;                    // open until the stop
    std::function<void()> before = [] {};  // called before the first event
  };

  Script& list(List list) { return step({.list = std::move(list)}); }
  Script& watch(Watch watch) { return step({.watch = std::move(watch)}); }

  ListWatch<Pod> source() {
    return {
        .list = [this](const metav1::ListOptions& options, const std::function<void(Pod &&)>& use,
                       const std::stop_token&, Pool&) { return serve(options, use); },
        .watch = [this](const metav1::ListOptions& options, const std::stop_token& stop,
                        Pool&) { return serve(options, stop); }};
  }
  // "list rv=0 limit=500", "watch rv=7".
  std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  std::vector<std::int64_t> timeouts() const {
    const std::lock_guard lock(mutex_);
    return timeouts_;
  }
  // Waits until all steps have been taken, and a last watch that stays has passed on its events.
  void waitForEnd() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return steps_.empty() && (staying_ || !endStays_); });
  }

 private:
  struct Step {
    std::optional<List> list = {};
    std::optional<Watch> watch = {};
  };
  Script& step(Step step) {
    endStays_ = step.watch && step.watch->stays;
    steps_.push_back(std::move(step));
    return *this;
  }
  Step take(std::string call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    if (steps_.empty()) throw ApiError(status::internalError("the script is over"));
    Step step = std::move(steps_.front());
    steps_.pop_front();
    changed_.notify_all();
    return step;
  }
  metav1::ListMeta serve(const metav1::ListOptions& options,
                         const std::function<void(Pod&&)>& use) {
    std::string call = fmt::format("list rv={} limit={}", options.resourceVersion, options.limit);
    if (!options.resourceVersionMatch.empty()) call += " " + options.resourceVersionMatch.str();
    if (!options.continue_.empty()) call += " continue=" + options.continue_.str();
    const Step step = take(std::move(call));
    if (!step.list) throw Error("the script says to watch");
    for (Pod copy : step.list->pods) use(std::move(copy));
    if (step.list->error) std::rethrow_exception(step.list->error);
    return {.resourceVersion = step.list->version, .continue_ = step.list->next};
  }
  EventSource<Pod> serve(const metav1::ListOptions& options, const std::stop_token& stop) {
    std::string call = fmt::format("watch rv={}", options.resourceVersion);
    if (options.sendInitialEvents) call += " initial " + options.resourceVersionMatch.str();
    if (!options.allowWatchBookmarks) call += " without bookmarks";
    {
      const std::lock_guard lock(mutex_);
      timeouts_.push_back(options.timeoutSeconds.value_or(0));
    }
    const Step step = take(std::move(call));
    if (!step.watch) throw ApiError(status::invalid({"", "ListOptions"}, "", {}));
    if (step.watch->refused) std::rethrow_exception(step.watch->refused);
    const auto watch = std::make_shared<Watch>(*step.watch);
    const auto at = std::make_shared<std::size_t>(0);
    return [this, watch, at, stop]() -> std::optional<WatchEvent<Pod>> {
      if (*at == 0) watch->before();
      if (*at < watch->events.size()) return watch->events[(*at)++];
      if (watch->error) std::rethrow_exception(watch->error);
      if (watch->stays) {
        std::unique_lock lock(mutex_);
        staying_ = true;
        changed_.notify_all();
        changed_.wait(lock, stop, [] { return false; });
      }
      return std::nullopt;
    };
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Step> steps_;
  bool endStays_ = false;
  bool staying_ = false;
  std::vector<std::string> calls_;
  std::vector<std::int64_t> timeouts_;
};

template <class E>
std::exception_ptr thrown(E error) {
  return std::make_exception_ptr(std::move(error));
}
inline std::exception_ptr unreachable() {
  return thrown(TransportError("connection refused", false));
}

inline std::vector<std::string> namesIn(const Store<Pod>& store) {
  std::vector<std::string> result;
  for (const auto& one : store.list()) {
    result.push_back(one->metadata.name + "@" + one->metadata.resourceVersion.str());
  }
  return result;
}

// A reflector that writes to a store, with a clock that the test drives.
struct Rig {
  Script script;
  Store<Pod> store;
  FakeClock clock;
  std::mutex errorsMutex;
  std::vector<std::string> errors;
  std::unique_ptr<Reflector<Pod>> reflector;
  std::jthread thread;

  explicit Rig(ReflectorOptions options = {.streamList = false}, Transform<Pod> transform = {}) {
    options.clock = &clock;
    options.onError = [this](const std::exception& error) {
      const std::lock_guard lock(errorsMutex);
      errors.push_back(error.what());
    };
    reflector = std::make_unique<Reflector<Pod>>(script.source(), store, std::move(options),
                                                 std::move(transform));
  }
  // Runs the reflector on a thread until the script is over. In each of its first `pauses` pauses,
  // time advances by a minute.
  void run(int pauses = 0) {
    thread = std::jthread([this](const std::stop_token& stop) { reflector->run(stop); });
    for (int i = 0; i < pauses; ++i) {
      clock.waitForWaiters(1);
      clock.advance(std::chrono::seconds(60));
    }
    script.waitForEnd();
  }
  void end() {
    thread.request_stop();
    thread.join();
  }
  std::string round() {
    return errorOf<std::exception>([&] { reflector->listAndWatch({}); });
  }
};

}  // namespace kube::scripted
