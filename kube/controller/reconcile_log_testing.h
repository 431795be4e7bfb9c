// What tests of controllers note down while these work, and wait for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/meta/object_key.h"

namespace kube::testing {

/// Lines, in the order in which they came.
class Notes {
 public:
  void add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    added_.notify_all();
  }
  void add(const ObjectKey& key) { add(key.str()); }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::ptrdiff_t count(const std::string& line) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::count(lines_, line);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
  }
  /// Until a line is there so many times; longer than a minute is a failure.
  void waitFor(const std::string& line, std::ptrdiff_t times = 1) const {
    std::unique_lock lock(mutex_);
    const bool came = added_.wait_for(lock, std::chrono::minutes{1},
                                      [&] { return std::ranges::count(lines_, line) >= times; });
    EXPECT_TRUE(came) << "never came: " << line;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable added_;
  std::vector<std::string> lines_;
};

/// A function on a thread of its own, asked to stop when this goes.
class Running {
 public:
  explicit Running(std::function<void(std::stop_token)> function)
      : result_(std::async(std::launch::async, [function = std::move(function),
                                                token = stop_.get_token()] { function(token); })) {}
  ~Running() {
    stop_.request_stop();
    if (result_.valid()) result_.wait();
  }

  void requestStop() { stop_.request_stop(); }
  bool ended() const {
    return result_.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
  }
  /// Waits for its end without asking for it; throws what it has thrown.
  void wait() { result_.get(); }
  /// Asks for it as well. Nothing happens if it was waited for already.
  void finish() {
    stop_.request_stop();
    if (result_.valid()) result_.get();
  }

 private:
  std::stop_source stop_;
  std::future<void> result_;
};

}  // namespace kube::testing
