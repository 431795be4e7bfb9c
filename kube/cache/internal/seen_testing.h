// The objects that exist according to the calls of a handler, for tests of informers.
//
//   Seen seen;
//   maps.addHandler(seen.handler());
//   EXPECT_TRUE(seen.waitUntil([&] { return seen.keys() == Keys{"book/a"}; }));
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "kube/cache/event_handler.h"
#include "kube/client/core/v1.h"

namespace kube::testing {

using Keys = std::set<std::string>;

class Seen {
 public:
  using ConfigMap = corev1::ConfigMap;

  EventHandler<ConfigMap> handler() {
    return {
        .onAdd = [this](auto object) { note(*object, &added, true); },
        .onUpdate =
            [this](auto before, auto after) {
              {
                const std::lock_guard lock(mutex_);
                const auto known = known_.find(keyOf(*before).str());
                if (known == known_.end() || known->second != before->metadata.resourceVersion) {
                  wrong_ += keyOf(*before).str() + " was not at the version before; ";
                }
              }
              note(*after, &updated, true);
            },
        .onDelete =
            [this](const DeletedObject<ConfigMap>& last) {
              if (last.finalStateUnknown) ++unknown;
              note(*last, &deleted, false);
            }};
  }

  Keys keys() const {
    const std::lock_guard lock(mutex_);
    return keysLocked();
  }
  /// The versions of the objects.
  std::map<std::string, String> versions() const {
    const std::lock_guard lock(mutex_);
    return known_;
  }
  /// Calls that contradict those before; empty if there are none.
  std::string wrong() const {
    const std::lock_guard lock(mutex_);
    return wrong_;
  }
  bool waitFor(const Keys& keys) {
    return waitUntil([&] { return keysLocked() == keys; });
  }
  /// The counts may be read in the condition.
  bool waitUntil(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), condition);
  }

  std::atomic<int> added = 0, updated = 0, deleted = 0, unknown = 0;

 private:
  Keys keysLocked() const {
    Keys keys;
    for (const auto& [key, version] : known_) keys.insert(key);
    return keys;
  }
  void note(const ConfigMap& object, std::atomic<int>* count, bool exists) {
    const std::lock_guard lock(mutex_);
    const std::string key = keyOf(object).str();
    const bool existed = known_.contains(key);
    if (existed != (count != &added)) wrong_ += key + (existed ? " exists; " : " does not exist; ");
    if (exists) {
      known_[key] = object.metadata.resourceVersion;
    } else {
      known_.erase(key);
    }
    ++*count;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, String> known_;
  std::string wrong_;
};

/// Waits for a condition that has no notification.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return condition();
    std::this_thread::yield();
  }
  return true;
}

}  // namespace kube::testing
