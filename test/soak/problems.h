// The problems that a round has found: the texts of the first few, and the number of all.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kube::soak {

class Problems {
 public:
  void add(std::string text) {
    const std::lock_guard lock(mutex_);
    if (++count_ <= kShown) texts_.push_back(std::move(text));
  }
  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  static constexpr std::size_t kShown = 20;
  mutable std::mutex mutex_;
  std::size_t count_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace kube::soak
