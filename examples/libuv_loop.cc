// An operator on a bare libuv loop: its controller and libuv's own handles share one thread.
//
//   libuv_loop [NAMESPACE]      prints the pods that change, until Ctrl-C
//
// Needs libuv 1.x (Debian: libuv1-dev).

#include <fmt/core.h>
#include <uv.h>

#include <csignal>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "kube/base/task_scope.h"
#include "kube/client/async_resource_client.h"
#include "kube/kube.h"

namespace {

using kube::corev1::Pod;
using Work = kube::Executor::Work;

// A loop of libuv, with the two functions of an executor. Only uv_async_send() may be called by
// other threads, so that wakes the loop, and the loop starts the timers.
class UvLoop {
 public:
  UvLoop() {
    uv_loop_init(&loop_);
    wake_.data = this;
    uv_async_init(&loop_, &wake_,
                  [](uv_async_t* wake) { static_cast<UvLoop*>(wake->data)->runWork(); });
  }
  ~UvLoop() {
    const auto closeHandle = [](uv_handle_t* handle, void*) {
      if (uv_is_closing(handle) == 0) uv_close(handle, endOf(*handle));
    };
    uv_walk(&loop_, closeHandle, nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }
  UvLoop(const UvLoop&) = delete;
  UvLoop& operator=(const UvLoop&) = delete;

  uv_loop_t* get() { return &loop_; }

  void post(Work work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    uv_async_send(&wake_);
  }
  void postAfter(kube::Clock::Duration delay, Work work) {
    post([this, delay, work = std::move(work)] {
      auto* const timer = new DelayedWork{.timer = {}, .work = work};
      timer->timer.data = timer;
      uv_timer_init(&loop_, &timer->timer);
      const auto time = std::chrono::ceil<std::chrono::milliseconds>(delay);
      const auto run = [](uv_timer_t* due) {
        static_cast<DelayedWork*>(due->data)->work();
        uv_close(reinterpret_cast<uv_handle_t*>(due), freeTimer);
      };
      uv_timer_start(&timer->timer, run, static_cast<std::uint64_t>(time.count()), 0);
    });
  }

  void run() { uv_run(&loop_, UV_RUN_DEFAULT); }
  void stop() { uv_stop(&loop_); }

 private:
  struct DelayedWork {
    uv_timer_t timer;
    Work work;
  };
  static void freeTimer(uv_handle_t* timer) { delete static_cast<DelayedWork*>(timer->data); }
  static uv_close_cb endOf(const uv_handle_t& handle) {
    return handle.type == UV_TIMER ? freeTimer : nullptr;
  }

  void runWork() {
    std::vector<Work> work;
    {
      const std::lock_guard lock(mutex_);
      work.swap(work_);
    }
    for (const Work& each : work) each();
  }

  uv_loop_t loop_{};
  uv_async_t wake_{};
  std::mutex mutex_;
  std::vector<Work> work_;
};

kube::Executor executorOf(UvLoop& loop) {
  return kube::Executor(
      [&loop](Work work) { loop.post(std::move(work)); },
      [&loop](kube::Clock::Duration delay, Work work) { loop.postAfter(delay, std::move(work)); });
}

kube::Task<> print(kube::Clientset clients, kube::Lister<Pod> pods, kube::ObjectKey key) {
  const auto space = co_await clients.coreV1().namespaces().async().get(key.namespace_);
  const auto pod = pods.get(key);
  fmt::print("{} {} (the namespace: {})\n", key, pod ? pod->status->phase : "is gone",
             space.status->phase);
}

kube::Task<> program(kube::Manager& manager, UvLoop& loop, std::exception_ptr& failure) {
  try {
    co_await manager.async().run();
  } catch (...) {
    failure = std::current_exception();
  }
  loop.stop();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    kube::ManagerOptions options;
    if (argc > 1) options.informers.namespace_ = argv[1];
    kube::Manager manager(kube::Config::load(), options);
    auto& pods = manager.controller<Pod>("pods");
    pods.inFlight(100).reconcile([&manager, cached = pods.lister()](const kube::ObjectKey& key) {
      return print(manager.clients(), cached, key);
    });

    UvLoop loop;
    std::exception_ptr failure;
    kube::TaskScope tasks(executorOf(loop));
    uv_signal_t interrupt;
    uv_signal_init(loop.get(), &interrupt);
    interrupt.data = &tasks;
    const auto onSignal = [](uv_signal_t* handle, int) {
      static_cast<kube::TaskScope*>(handle->data)->requestStop();
    };
    uv_signal_start(&interrupt, onSignal, SIGINT);
    tasks.start(program(manager, loop, failure), "the program");
    loop.run();
    if (failure) std::rethrow_exception(failure);
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
