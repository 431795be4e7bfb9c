#include "kube/controller/internal/function_source.h"

#include "kube/base/internal/join_later.h"
#include "kube/base/internal/start_thread.h"

namespace kube::detail {

RunningThread::RunningThread(std::function<void(std::stop_token)> work, const std::stop_token& stop,
                             const std::string& name)
    : stop_(stop, std::stop_token()) {
  thread_ = startingThread(name, [&] {
    return std::thread([work = std::move(work), token = stop_.token()] { work(token); });
  });
}

void RunningThread::end() {
  stop_.requestStop();
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id()) {
    joinLater(std::move(thread_));
  } else {
    thread_.join();
  }
}

}  // namespace kube::detail
