#include "kube/base/internal/join_later.h"

#include <pthread.h>

#include <memory>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"

namespace kube {

namespace {

class LeftThreads {
 public:
  void add(std::thread thread) {
    const detail::Lock lock(threadsMutex_);
    if (ended_) return thread.detach();
    std::erase_if(threads_, hasBeenJoined);
    threads_.push_back(std::move(thread));
  }

  // Joins all threads, also threads that are added meanwhile by the threads that it joins.
  void joinAll() {
    detail::Lock lock(threadsMutex_);
    while (!threads_.empty()) {
      std::thread thread = std::move(threads_.back());
      threads_.pop_back();
      if (thread.get_id() == std::this_thread::get_id()) {
        thread.detach();  // this thread ends the process
        continue;
      }
      lock.unlock();
      thread.join();
      lock.lock();
    }
    ended_ = true;
  }

 private:
  static bool hasBeenJoined(std::thread& thread) {
    if (pthread_tryjoin_np(thread.native_handle(), nullptr) != 0) return false;
    std::construct_at(&thread);  // a joinable object must not be destroyed
    return true;
  }

  detail::Mutex threadsMutex_;
  std::vector<std::thread> threads_ KUBE_GUARDED_BY(threadsMutex_);
  bool ended_ KUBE_GUARDED_BY(threadsMutex_) = false;
};

}  // namespace

void joinLater(std::thread thread) {
  // Never destroyed: a thread that was not joined may call this while the process is torn down.
  static LeftThreads& left = *new LeftThreads;
  static const struct AtExit {
    ~AtExit() { left.joinAll(); }
  } atExit;
  left.add(std::move(thread));
}

}  // namespace kube
