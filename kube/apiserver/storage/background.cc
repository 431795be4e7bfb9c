#include "kube/apiserver/storage/background.h"

#include "kube/base/log.h"

namespace kube::apiserver {

Background::Background(Storage& storage) : storage_(storage) {}

Background::~Background() { stop(); }

void Background::start() {
  storage_.onChange([this](Collection& collection, const ChangePtr& change) {
    post([this, kept = collection.shared_from_this(), change] {
      for (const Listener& listener : listeners_) listener(*kept, change);
    });
  });
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void Background::stop() {
  storage_.onChange(nullptr);
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  const detail::Lock lock(tasksMutex_);
  tasks_.clear();
  changed_.notify_all();
}

void Background::post(std::function<void()> task) {
  const detail::Lock lock(tasksMutex_);
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void Background::waitIdle() {
  detail::Lock lock(tasksMutex_);
  changed_.wait(lock, [this]() KUBE_REQUIRES(tasksMutex_) { return tasks_.empty() && !busy_; });
}

void Background::run(const std::stop_token& stop) {
  detail::Lock lock(tasksMutex_);
  while (changed_.wait(lock, stop, [this]() KUBE_REQUIRES(tasksMutex_) {
    return !tasks_.empty();
  }) && !stop.stop_requested()) {
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    try {
      task();
    } catch (const std::exception& error) {
      Logger("api-server").warning("in the background: {}", error.what());
    }
    lock.lock();
    busy_ = false;
    if (tasks_.empty()) changed_.notify_all();
  }
}

}  // namespace kube::apiserver
