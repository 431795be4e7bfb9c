// The background thread of an API server: it passes every change to listeners, in order, and runs
// tasks.
//
// Thread safety: every method may be called from any thread. Listeners and tasks run on the one
// thread, one after another; their exceptions are logged.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "kube/apiserver/storage/storage.h"
#include "kube/base/internal/mutex.h"

namespace kube::apiserver {

class Background {
 public:
  using Listener = std::function<void(const Collection&, const ChangePtr&)>;

  explicit Background(Storage& storage);
  ~Background();

  /// Adds a listener for all changes from now on. Call it before start().
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  void start();
  /// Waits for the current task or change, and drops the others.
  void stop();

  void post(std::function<void()> task);
  /// Waits until there is nothing left to do. Not for the background thread itself.
  void waitIdle();

 private:
  void run(const std::stop_token& stop);

  Storage& storage_;
  std::vector<Listener> listeners_;
  detail::Mutex tasksMutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> tasks_ KUBE_GUARDED_BY(tasksMutex_);
  bool busy_ KUBE_GUARDED_BY(tasksMutex_) = false;
  std::jthread thread_;
};

}  // namespace kube::apiserver
