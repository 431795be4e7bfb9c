#include "test/soak/writers.h"

#include <fmt/core.h>

#include "kube/base/error.h"
#include "kube/meta/api_error.h"
#include "test/soak/patience.h"

namespace kube::soak {

namespace {

// Makes texts of different sizes, so that frames end anywhere in a record or a window.
String content(std::mt19937_64& random) {
  const std::size_t size = random() % 50 == 0 ? random() % 8000 : random() % 60;
  std::string text(size, 'x');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
}

}  // namespace

Writers::Writers(const Config& config, const WritersOptions& options, Problems& problems)
    : options_(options), problems_(problems), clients_(config), running_(options.writers) {
  for (int i = 0; i < options.writers; ++i) {
    threads_.emplace_back([this, i](const std::stop_token& stop) {
      write(i, stop);
      const std::lock_guard lock(mutex_);
      --running_;
      changed_.notify_all();
    });
  }
}

Writers::~Writers() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

bool Writers::waitFor(double share) {
  std::unique_lock lock(mutex_);
  const auto wanted = static_cast<std::size_t>(share * options_.changes);
  for (std::size_t before = made_; made_ < wanted && running_ > 0; before = made_) {
    // The time limit starts again with every change.
    if (!changed_.wait_for(lock, kPatience,
                           [&] { return made_ != before || paused_ || running_ == 0; })) {
      return false;
    }
    if (paused_) changed_.wait(lock, [&] { return !paused_; });
  }
  return true;
}

bool Writers::done() const {
  const std::lock_guard lock(mutex_);
  return running_ == 0;
}

std::size_t Writers::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

void Writers::pause() {
  std::unique_lock lock(mutex_);
  paused_ = true;
  changed_.wait(lock, [&] { return writing_ == 0; });
}

void Writers::resume() {
  const std::lock_guard lock(mutex_);
  paused_ = false;
  changed_.notify_all();
}

void Writers::write(int writer, const std::stop_token& stop) {
  std::mt19937_64 random(options_.seed * 1000 + static_cast<std::uint64_t>(writer));
  const int own = options_.objects / options_.writers;
  std::vector<bool> exists(static_cast<std::size_t>(own));
  for (int i = 0; i < options_.changes / options_.writers; ++i) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !paused_; })) return;
      ++writing_;
    }
    // The first changes create all objects in order.
    const std::size_t which = static_cast<std::size_t>(
        i < own ? i : static_cast<int>(random() % static_cast<std::uint64_t>(own)));
    bool there = exists[which];
    change(random, String(fmt::format("w{}-{}", writer, which)), there, stop);
    exists[which] = there;
    const std::lock_guard lock(mutex_);
    --writing_;
    ++made_;
    changed_.notify_all();
  }
}

void Writers::change(std::mt19937_64& random, const String& name, bool& exists,
                     const std::stop_token& stop) {
  const ResourceClient<corev1::ConfigMap> maps = clients_.coreV1().configMaps("default");
  if (exists && random() % 4 == 0) {
    insist(
        [&] {
          try {
            maps.remove(name, {}, stop);
          } catch (const ApiError& error) {
            if (!isNotFound(error)) throw;  // an earlier try has succeeded
          }
        },
        stop);
    exists = false;
    return;
  }
  corev1::ConfigMap map;
  map.metadata.name = name;
  map.metadata.labels["tier"] = random() % 2 == 0 ? "front" : "back";
  map.data["value"] = content(random);
  insist(
      [&] {
        try {
          exists ? maps.update(map, {}, stop) : maps.create(map, {}, stop);
        } catch (const ApiError& error) {
          if (isNotFound(error)) exists = false;  // an earlier removal has arrived late
          if (!isAlreadyExists(error)) throw;
          exists = true;  // an earlier try has succeeded; the update sets the contents
          maps.update(map, {}, stop);
        }
      },
      stop);
  exists = true;
}

template <class Act>
void Writers::insist(Act act, const std::stop_token& stop) {
  const auto deadline = realClock().deadlineAfter(kPatience);
  for (;;) {
    try {
      return act();
    } catch (const Error& error) {
      if (stop.stop_requested()) return;
      if (realClock().now() >= deadline) {
        return problems_.add(fmt::format("a writer gave up: {}", error.what()));
      }
    }
    realClock().sleepFor(std::chrono::milliseconds(3), stop);
  }
}

}  // namespace kube::soak
