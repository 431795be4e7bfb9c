// The life of a work queue with threads around it: producers, workers (threads and coroutines, some
// of which are given up), delayed items that fall due at any moment, and an end in the midst of
// that. A test runs some rounds; kubexx-soak runs many.
//
//   const QueueRound::Result result = QueueRound(seed).run();
//
// The seed determines what the threads do, but not when.
#pragma once

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/base/internal/finally.h"
#include "kube/base/task_scope.h"
#include "kube/base/task_threads.h"
#include "kube/meta/object_key.h"
#include "kube/workqueue/async_work_queue.h"
#include "kube/workqueue/rate_limiting_queue.h"

namespace kube::testing {

class QueueRound {
 public:
  struct Result {
    std::uint64_t adds = 0;  // of all kinds
    std::uint64_t taken = 0;
    std::vector<std::string> problems;
  };

  explicit QueueRound(std::uint64_t seed) : random_(seed), end_(static_cast<End>(random_() % 4)) {
    for (int i = 0; i < kKeys; ++i) {
      keys_.push_back({String("space"), String(fmt::format("key-{}", i))});
    }
  }

  Result run() {
    const auto limiter = std::make_shared<ItemExponentialFailureRateLimiter<ObjectKey>>(
        microseconds(50), std::chrono::milliseconds(5));
    queue_ = std::make_unique<Queue>(limiter);
    const auto workers = random_() % 4;
    const auto coroutines = random_() % 5 + (workers == 0 ? 1 : 0);
    const auto producers = 1 + random_() % 3;
    std::vector<std::jthread> working, producing;
    for (std::size_t i = 0; i < workers; ++i) {
      working.emplace_back([this, seed = random_()] { work(seed); });
    }
    const Executor executor([threads = TaskThreads::shared()](Executor::Work work) {
      threads->run([work = std::move(work)] { work(); });
    });
    scope_ = std::make_unique<TaskScope>(executor, stop_.get_token());
    {
      TaskScope givenUp(executor);
      for (std::size_t i = 0; i < coroutines; ++i) {
        scope_->start(workAwaiting(random_()));
        if (random_() % 4 == 0) givenUp.start(workAwaiting(random_()));
      }
      for (std::size_t i = 0; i < producers; ++i) {
        producing.emplace_back([this, seed = random_()] { produce(seed); });
      }
      std::this_thread::sleep_for(microseconds(random_() % 10'000));
    }
    std::this_thread::sleep_for(microseconds(random_() % 10'000));
    finish(working, producing);
    return result();
  }

 private:
  using Queue = RateLimitingQueue<ObjectKey>;
  using microseconds = std::chrono::microseconds;
  enum class End : std::uint8_t { ShutDown, Drain, JustGone, ByWorker };

  static constexpr int kKeys = 200;

  // The facts about one key. `wanted` counts adds before the end, `seen` is the value of `wanted`
  // when the key was last taken. After a drain, the two are equal.
  struct Facts {
    std::atomic<int> workers{0};
    std::atomic<std::uint64_t> wanted{0}, seen{0};
  };

  // Ends the queue while items fall due: their delays are about as long as a round.
  void finish(std::vector<std::jthread>& working, std::vector<std::jthread>& producing) {
    switch (end_) {
      case End::ShutDown:
        queue_->shutDown();
        break;
      case End::ByWorker:
        stopByWorker_ = true;
        break;
      case End::Drain:
        producing_ = false;
        producing.clear();
        queue_->shutDownWithDrain();
        for (int i = 0; i < kKeys; ++i) {
          Facts& facts = facts_[static_cast<std::size_t>(i)];
          if (facts.seen != facts.wanted) {
            problem(fmt::format("{}: lost by a drain", keys_[static_cast<std::size_t>(i)].str()));
          }
        }
        break;
      case End::JustGone:
        stop_.request_stop();
        break;
    }
    producing_ = false;
    producing.clear();
    if (end_ == End::ByWorker) queue_->add(keys_[0]);  // for a worker to take
    working.clear();
    if (end_ == End::Drain || random_() % 2 == 0) scope_->wait();
    scope_.reset();
    queue_.reset();
  }

  void produce(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    while (producing_) {
      const std::size_t i = random() % kKeys;
      const ObjectKey& key = keys_[i];
      ++adds_;
      switch (random() % 8) {
        case 0:
          queue_->addRateLimited(key);
          break;
        case 1:
        case 2:
          ++facts_[i].wanted;
          queue_->add(key, static_cast<int>(random() % 3));
          break;
        default:
          queue_->addAfter(key, microseconds(random() % 20'000));
      }
      if (random() % 64 == 0) std::this_thread::yield();
    }
  }

  void work(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (WorkItem<ObjectKey> item; queue_->next(item, stop_.get_token());) {
      const std::size_t i = begin(*item);
      if (random() % 4 == 0) queue_->addAfter(*item, microseconds(random() % 10'000));
      if (random() % 16 == 0) queue_->forget(*item);
      end(i);
    }
  }
  Task<> workAwaiting(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (WorkItem<ObjectKey> item;;) {
      const bool any = co_await queue_->async().next(item);
      if (!any) co_return;
      const std::size_t i = begin(*item);
      const detail::Finally ended([&] { end(i); });  // also if the coroutine is given up
      if (random() % 4 == 0) co_await sleepFor(microseconds(random() % 500));
    }
  }

  // The work on a key.
  std::size_t begin(const ObjectKey& key) {
    const std::size_t i = static_cast<std::size_t>(std::atoi(key.name.str().substr(4).c_str()));
    Facts& facts = facts_[i];
    if (facts.workers.fetch_add(1) != 0) problem(fmt::format("{}: two at work", key.str()));
    // Before the work, because an item that is added from now on comes again.
    facts.seen = facts.wanted.load();
    ++taken_;
    return i;
  }
  void end(std::size_t i) {
    facts_[i].workers.fetch_sub(1);
    if (stopByWorker_.exchange(false)) queue_->shutDown();
  }

  void problem(std::string what) {
    const std::lock_guard lock(problemsMutex_);
    problems_.push_back(std::move(what));
  }
  Result result() {
    const std::lock_guard lock(problemsMutex_);
    return {.adds = adds_, .taken = taken_, .problems = problems_};
  }

  std::mt19937_64 random_;
  const End end_;
  std::vector<ObjectKey> keys_;
  std::array<Facts, kKeys> facts_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<TaskScope> scope_;
  std::atomic<bool> producing_{true}, stopByWorker_{false};
  std::stop_source stop_;
  std::atomic<std::uint64_t> adds_{0}, taken_{0};
  std::mutex problemsMutex_;
  std::vector<std::string> problems_;
};

}  // namespace kube::testing
