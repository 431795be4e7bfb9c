#include "kube/controller/internal/worker_threads.h"

#include <condition_variable>
#include <deque>
#include <utility>

#include "kube/base/internal/guarded.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/start_thread.h"

namespace kube::detail {

class WorkerThreads::State {
 public:
  void post(Executor::Work work) {
    {
      const Lock lock(workMutex_);
      if (closed_) return;
      work_.push_back(std::move(work));
    }
    changed_.notify_one();
  }

  void run() {
    for (;;) {
      Executor::Work work;
      {
        Lock lock(workMutex_);
        changed_.wait(lock,
                      [this]() KUBE_REQUIRES(workMutex_) { return closed_ || !work_.empty(); });
        if (closed_) return;
        work = std::move(work_.front());
        work_.pop_front();
      }
      guarded("controller", "a worker", work);
    }
  }

  void close() {
    std::deque<Executor::Work> dropped;  // destroyed without the lock
    const Lock lock(workMutex_);
    closed_ = true;
    dropped.swap(work_);
    changed_.notify_all();
  }

 private:
  Mutex workMutex_;
  std::condition_variable changed_;
  std::deque<Executor::Work> work_ KUBE_GUARDED_BY(workMutex_);
  bool closed_ KUBE_GUARDED_BY(workMutex_) = false;
};

WorkerThreads::WorkerThreads(std::string_view what, int count) : state_(std::make_shared<State>()) {
  try {
    for (int i = 0; i < count; ++i) {
      startingThread(what, [&] { threads_.emplace_back([state = state_] { state->run(); }); });
    }
  } catch (...) {
    end();
    throw;
  }
}

WorkerThreads::~WorkerThreads() { end(); }

void WorkerThreads::end() {
  state_->close();
  for (std::thread& thread : threads_) thread.join();
}

Executor WorkerThreads::executor() const {
  return Executor([state = state_](Executor::Work work) { state->post(std::move(work)); });
}

}  // namespace kube::detail
