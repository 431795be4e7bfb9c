// Notes that controllers write while tests run them, and wait for.
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

/// Lines in the order of their arrival.
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
  /// Blocks until a line was added this many times; fails after a minute.
  void waitFor(const std::string& line, std::ptrdiff_t times = 1) const {
    std::unique_lock lock(mutex_);
    const bool came = added_.wait_for(lock, std::chrono::minutes{1},
                                      [&] { return std::ranges::count(lines_, line) >= times; });
    EXPECT_TRUE(came) << "missing line: " << line;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable added_;
  std::vector<std::string> lines_;
};

/// Runs a function on its own thread, and asks it to stop when this is destroyed.
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
  /// Waits for the end of the function without a stop request; throws the function's exception.
  void wait() { result_.get(); }
  /// Requests a stop and waits. Does nothing after wait().
  void finish() {
    stop_.request_stop();
    if (result_.valid()) result_.get();
  }

 private:
  std::stop_source stop_;
  std::future<void> result_;
};

}  // namespace kube::testing
