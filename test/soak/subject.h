// An informer under test, with handlers that each keep a View.
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/cache/shared_informer.h"
#include "test/soak/patience.h"
#include "test/soak/view.h"

namespace kube::soak {

class AnySubject {
 public:
  virtual ~AnySubject() = default;

  virtual void start() = 0;
  virtual bool running() const = 0;
  /// Stops the informer, and returns how long that took.
  virtual std::chrono::nanoseconds stop() = 0;
  /// The last version that the informer has seen; 0 for none.
  virtual std::uint64_t version() const = 0;
  /// Checks that the informer and all its handlers see the last change, and have the objects of the
  /// server. There must be no writes meanwhile.
  virtual void check(const ObjectKey& last, const String& version) = 0;
  virtual InformerStats stats() const = 0;
  virtual std::string describe() const = 0;
  /// The number of handler calls.
  virtual std::uint64_t calls() const = 0;
};

template <Cacheable T>
class Subject final : public AnySubject {
 public:
  using Object = std::shared_ptr<const T>;

  Subject(std::string name, ResourceClient<T> client, SharedInformerOptions options,
          Problems& problems, const std::atomic<int>& histories)
      : name_(std::move(name)),
        problems_(problems),
        histories_(histories),
        client_(client),
        informer_(ListWatch<T>::fromClient(std::move(client)), std::move(options)) {}
  ~Subject() override { stop(); }

  /// Adds a handler; `after` is called at the end of each of its callbacks.
  HandlerRegistration observe(HandlerOptions options, std::function<void()> after = {}) {
    View<T>& view = views_.emplace_back(name_ + "/" + options.name, problems_, histories_, after);
    view.fill(filled_);
    return registrations_.emplace_back(informer_.addHandler(view.handler(), std::move(options)));
  }
  /// Removes the handler that was added last.
  void removeLast() {
    registrations_.back().remove();
    views_.back().close();
    removed_.splice(removed_.end(), views_, std::prev(views_.end()));
    registrations_.pop_back();
  }
  /// Puts these objects into the informer. Handlers that are added later are expected to know them.
  void fill(std::vector<Object> objects) {
    filled_ = objects;
    informer_.fill(std::move(objects));
  }
  const SharedInformer<T>& informer() const noexcept { return informer_; }

  void start() override {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_.run(stop); });
    running_ = true;
  }
  bool running() const override { return running_; }
  std::chrono::nanoseconds stop() override {
    if (!running_.exchange(false)) return {};
    const auto before = std::chrono::steady_clock::now();
    runner_.request_stop();
    runner_.join();
    return std::chrono::steady_clock::now() - before;
  }
  std::uint64_t version() const override { return number(informer_.lastSyncResourceVersion()); }
  InformerStats stats() const override { return informer_.stats(); }
  std::string describe() const override { return name_ + ": " + informer_.describe(); }
  std::uint64_t calls() const override {
    std::uint64_t sum = 0;
    for (const View<T>& view : views_) sum += view.calls();
    for (const View<T>& view : removed_) sum += view.calls();
    return sum;
  }

  void check(const ObjectKey& last, const String& version) override {
    for (View<T>& view : views_) {
      if (view.waitFor(last, version, kPatience)) continue;
      problems_.add(fmt::format("handler {} has not seen the last change; {}", view.name(),
                                informer_.describe()));
      return;
    }
    Objects server;
    for (const T& object : client_.list().items) {
      server[keyOf(object)] = std::make_shared<const T>(object);
    }
    // If the last change arrived with a list, others may arrive after it.
    const auto agree = [&](const std::string& whose, auto objects) {
      if (eventually([&] { return differences(objects(), server).empty(); })) return;
      for (const std::string& text : differences(objects(), server)) {
        problems_.add(whose + " " + text);
      }
    };
    agree("the cache of " + name_, [&] {
      Objects cached;
      for (const Object& object : informer_.store().list()) cached[keyOf(*object)] = object;
      return cached;
    });
    for (const View<T>& view : views_) {
      agree("the view of handler " + view.name(), [&] { return view.objects(); });
    }
  }

 private:
  using Objects = typename View<T>::Objects;

  static std::vector<std::string> differences(const Objects& is, const Objects& server) {
    std::vector<std::string> found;
    for (const auto& [key, object] : server) {
      const auto own = is.find(key);
      if (own == is.end()) {
        found.push_back(fmt::format("lacks {}", key.str()));
      } else if (!(*own->second == *object)) {
        found.push_back(fmt::format("has {} in version {}, the server in {}", key.str(),
                                    detail::resourceVersionOf(*own->second).view(),
                                    detail::resourceVersionOf(*object).view()));
      }
    }
    for (const auto& [key, object] : is) {
      if (!server.contains(key)) found.push_back(fmt::format("still has {}", key.str()));
    }
    return found;
  }

  const std::string name_;
  Problems& problems_;
  const std::atomic<int>& histories_;
  const ResourceClient<T> client_;
  std::list<View<T>> views_, removed_;  // before the informer: they must outlive it
  std::list<HandlerRegistration> registrations_;
  std::vector<Object> filled_;
  const SharedInformer<T> informer_;
  std::atomic<bool> running_{false};
  std::jthread runner_;
};

}  // namespace kube::soak
