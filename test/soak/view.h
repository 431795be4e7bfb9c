// The objects that exist according to the callbacks of a handler.
//
//   View<ConfigMap> view("slow", problems, history);
//   informer.addHandler(view.handler());
//
// Every callback is checked: only unknown objects may be added, only known ones updated or deleted,
// an update starts from the object in the view, and an object's resourceVersion never decreases,
// except once for each new history of the server.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/cache/event_handler.h"
#include "test/soak/problems.h"

namespace kube::soak {

inline std::uint64_t number(std::string_view version) {
  std::uint64_t value = 0;
  std::from_chars(version.data(), version.data() + version.size(), value);
  return value;
}

template <Cacheable T>
class View {
 public:
  using Object = std::shared_ptr<const T>;
  using Objects = std::map<ObjectKey, Object>;

  /// `histories` counts the new histories of the server. `after` is called at the end of each
  /// callback, and may be slow or throw.
  View(std::string name, Problems& problems, const std::atomic<int>& histories,
       std::function<void()> after = {})
      : name_(std::move(name)),
        problems_(problems),
        histories_(histories),
        after_(std::move(after)) {}

  EventHandler<T> handler() {
    return {.onAdd =
                [this](Object object) {
                  add(std::move(object));
                  finish();
                },
            .onUpdate =
                [this](Object before, Object after) {
                  update(before, std::move(after));
                  finish();
                },
            .onDelete =
                [this](DeletedObject<T> last) {
                  remove(last);
                  finish();
                }};
  }

  /// Adds objects that are known from before the handler was added.
  void fill(const std::vector<Object>& objects) {
    const std::lock_guard lock(mutex_);
    for (const Object& object : objects) known_[keyOf(*object)] = object;
  }
  /// From now on, a callback is a problem.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

  /// Waits for an object in that version. Returns false if it does not arrive in time.
  bool waitFor(const ObjectKey& key, const String& version, std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] {
      const auto found = known_.find(key);
      return found != known_.end() && detail::resourceVersionOf(*found->second) == version;
    });
  }
  Objects objects() const {
    const std::lock_guard lock(mutex_);
    return known_;
  }
  const std::string& name() const noexcept { return name_; }
  std::uint64_t calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  void add(Object object) {
    const std::lock_guard lock(mutex_);
    const ObjectKey key = enter(*object, "add");
    const auto [place, fresh] = known_.insert_or_assign(key, std::move(object));
    if (!fresh) problem(key, "is added, but was known already");
    advance(key, *place->second);
  }
  void update(const Object& before, Object after) {
    const std::lock_guard lock(mutex_);
    const ObjectKey key = enter(*after, "update");
    const auto found = known_.find(key);
    if (found == known_.end()) {
      problem(key, "is updated, but was not known");
    } else if (!(*found->second == *before)) {
      problem(key, fmt::format("is updated from version {}, but the last known one is {}",
                               detail::resourceVersionOf(*before).view(),
                               detail::resourceVersionOf(*found->second).view()));
    }
    advance(key, *after);
    known_[key] = std::move(after);
  }
  void remove(const DeletedObject<T>& last) {
    const std::lock_guard lock(mutex_);
    const ObjectKey key = enter(*last, "delete");
    if (key != last.key) problem(key, "is deleted under another key");
    if (known_.erase(key) == 0) problem(key, "is deleted, but was not known");
    advance(key, *last);
  }

  ObjectKey enter(const T& object, const char* what) {
    ++calls_;
    ObjectKey key = keyOf(object);
    if (closed_) problem(key, std::string(what) + ": called after the handler was removed");
    changed_.notify_all();
    return key;
  }
  void advance(const ObjectKey& key, const T& object) {
    Progress& progress = progress_[key];
    const std::uint64_t version = number(detail::resourceVersionOf(object));
    if (version < progress.version && ++progress.steps > histories_) {
      problem(key, fmt::format("goes back from version {} to {}", progress.version, version));
    }
    progress.version = version;
  }
  void problem(const ObjectKey& key, const std::string& what) {
    problems_.add(fmt::format("handler {}: {} {}", name_, key.str(), what));
  }
  void finish() const {
    if (after_) after_();
  }

  struct Progress {
    std::uint64_t version = 0;
    int steps = 0;  // how often the version decreased
  };

  const std::string name_;
  Problems& problems_;
  const std::atomic<int>& histories_;
  const std::function<void()> after_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Objects known_;
  std::map<ObjectKey, Progress> progress_;
  std::uint64_t calls_ = 0;
  bool closed_ = false;
};

}  // namespace kube::soak
