// Blocking calls from a program with an event loop: other threads make them and post the
// results to the loop. Only the loop's thread touches the program's own state.
//
//   asynchronous         counts the pods of each namespace, and prints their names

#include <fmt/core.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <type_traits>

#include "kube/base/task_threads.h"
#include "kube/cache/core/v1.h"
#include "kube/client/core/v1.h"

namespace {

// Stands in for Asio's io_context or the loops of Qt and GLib: each can post a function.
class Loop {
 public:
  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  void run() {
    while (!over_) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !tasks_.empty(); });
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }
  void stop() {
    post([this] { over_ = true; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool over_ = false;
};

template <class Call, class Then>
void start(kube::TaskThreads& threads, Loop& loop, Call call, Then then) {
  using Result = std::invoke_result_t<Call>;
  const auto task = std::make_shared<std::packaged_task<Result()>>(std::move(call));
  threads.run([&loop, task, then] {
    (*task)();  // blocks this thread until the call is done
    loop.post([task, then] { then(task->get_future()); });
  });
}

}  // namespace

int main() {
  int code = 0;
  Loop loop;
  try {
    const kube::Clientset clients(kube::Config::load());
    std::stop_source stop;  // cancels all calls
    const auto threads = std::make_shared<kube::TaskThreads>();
    kube::SharedInformerFactory factory(clients);

    std::size_t waiting = 0;
    const auto done = [&] {
      if (--waiting == 0) loop.stop();
    };
    const auto failed = [&](const kube::Error& error) {
      fmt::print(stderr, "{}\n", error.what());
      code = 1;
    };
    for (const auto& space : clients.coreV1().namespaces().list().items) {
      ++waiting;
      start(
          *threads, loop,
          [&, name = space.metadata.name] {
            return clients.coreV1().pods(name).list({.limit = 500}, stop.get_token());
          },
          [&, name = space.metadata.name](std::future<kube::ObjectList<kube::corev1::Pod>> pods) {
            try {
              fmt::print("{}: {} pods\n", name, pods.get().items.size());
            } catch (const kube::Error& error) {
              failed(error);
            }
            done();
          });
    }
    const auto pods = factory.coreV1().pods();
    const kube::Executor executor([&](kube::Executor::Work work) { loop.post(std::move(work)); });
    pods.addHandler({.onAdd = [](auto pod) { fmt::print("+ {}\n", kube::keyOf(*pod)); }},
                    {.executor = executor});
    factory.start(stop.get_token());
    ++waiting;
    start(
        *threads, loop, [&] { return pods.waitForSync(stop.get_token()); },
        [&](std::future<bool>) { done(); });
    loop.run();
    stop.request_stop();
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return code;
}
