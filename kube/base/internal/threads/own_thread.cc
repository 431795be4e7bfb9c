#include "kube/base/internal/threads/own_thread.h"

#include <exception>
#include <thread>
#include <utility>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/internal/slow_wait.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/log.h"

namespace kube::detail {
namespace {

class OwnThread {
 public:
  using Function = std::function<void(const std::stop_token&)>;

  OwnThread(std::string what, Function function, const std::stop_token& stop)
      : what_(std::move(what)), function_(std::move(function)), stop_(stop, {}) {
    thread_ = startingThread(what_, [this] { return std::thread([this] { run(); }); });
  }
  ~OwnThread() {
    stop_.requestStop();
    const SlowWait slow(realClock(), [this](Clock::Duration waited) {
      Logger("task").warning("has been waiting {} for {} to return", inSeconds(waited), what_);
    });
    thread_.join();
  }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  Task<bool> ended() {
    return changed_.wait([this]() KUBE_REQUIRES(endedMutex_) { return ended_; });
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run() {
    try {
      function_(stop_.token());
    } catch (...) {
      error_ = std::current_exception();
    }
    const Lock lock(endedMutex_);
    ended_ = true;
    changed_.notifyAll();
  }

  const std::string what_;
  const Function function_;
  LinkedStop stop_;
  std::exception_ptr error_;  // written before ended_ is set, read after
  Mutex endedMutex_;
  Condition changed_{endedMutex_};
  bool ended_ KUBE_GUARDED_BY(endedMutex_) = false;
  std::thread thread_;
};

}  // namespace

Task<void> onOwnThread(std::string what, std::function<void(const std::stop_token&)> function) {
  const TaskContext& context = co_await CurrentContext();
  if (context.mayBlock) co_return function(context.stop);
  OwnThread thread(std::move(what), std::move(function), context.stop);
  const std::stop_token never;
  co_await underStop(thread.ended(), never);
  thread.rethrow();
}

}  // namespace kube::detail
