#include "kube/base/join_later.h"

#include <pthread.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kube {

namespace {

class LeftThreads {
 public:
  ~LeftThreads() {
    for (std::thread& thread : threads_) {
      if (thread.get_id() == std::this_thread::get_id()) {
        thread.detach();  // it is the one that ends the process
      } else {
        thread.join();
      }
    }
  }

  void add(std::thread thread) {
    const std::lock_guard lock(mutex_);
    std::erase_if(threads_, hasBeenJoined);
    threads_.push_back(std::move(thread));
  }

 private:
  static bool hasBeenJoined(std::thread& thread) {
    if (pthread_tryjoin_np(thread.native_handle(), nullptr) != 0) return false;
    std::construct_at(&thread);  // it does not know, and would insist on being joined
    return true;
  }

  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace

void joinLater(std::thread thread) {
  static LeftThreads left;
  left.add(std::move(thread));
}

}  // namespace kube
