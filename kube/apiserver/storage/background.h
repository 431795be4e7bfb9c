// What an API server does beside answering: one thread that hears of every change, in order, and
// runs what others ask it to.
//
// Thread safety: every method may be called from any thread; listeners and tasks run on the one
// thread, one after another. What they throw is logged.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "kube/apiserver/storage/storage.h"

namespace kube::apiserver {

class Background {
 public:
  using Listener = std::function<void(const Collection&, const ChangePtr&)>;

  explicit Background(Storage& storage);
  ~Background();

  /// Before start(): hears of all changes after it.
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }
  void start();
  /// Waits for the task or change under way and forgets the rest.
  void stop();

  void post(std::function<void()> task);
  /// Until there is nothing left to do. Not for the thread itself.
  void waitIdle();

 private:
  void run(const std::stop_token& stop);

  Storage& storage_;
  std::vector<Listener> listeners_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> tasks_;
  bool busy_ = false;
  std::jthread thread_;
};

}  // namespace kube::apiserver
