// Runs an event loop in place of its thread, while that thread does work between two turns and the
// work takes long or blocks. Its own thread starts with the first work, and sleeps otherwise.
//
// Thread safety: belongs to the loop's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "kube/base/internal/mutex.h"
#include "kube/base/internal/threads/after_turn.h"
#include "kube/http/internal/descriptor.h"

namespace kube::detail {

class Understudy final : public AfterTurn {
 public:
  /// Runs the loop until enough() is true, or the loop ends.
  using Run = std::function<void(const std::function<bool()>& enough)>;

  /// `rouse` makes the running loop ask enough() again.
  Understudy(Run run, std::function<void()> rouse);
  ~Understudy();
  Understudy(const Understudy&) = delete;
  Understudy& operator=(const Understudy&) = delete;

  /// From here until close(), the calling thread receives work.
  void open() { setReceiver(this); }
  void close() { setReceiver(nullptr); }

  bool hasWork();
  /// Does the work, without the loop's turn. When it returns, no other thread runs the loop.
  void doWork();

 private:
  enum class State : std::uint8_t {
    Idle,
    Watching,  // the loop's thread works
    Running,   // and the understudy runs the loop
    Closed,
  };

  void start();
  bool add(const std::shared_ptr<Work>& work) override;
  std::shared_ptr<Work> next() override;
  void onBlocking() noexcept override;
  void serve();
  void setAlarm(std::chrono::nanoseconds in) const noexcept;

  const Run run_;
  const std::function<void()> rouse_;

  Mutex stateMutex_;
  std::condition_variable changed_;
  State state_ KUBE_GUARDED_BY(stateMutex_) = State::Idle;
  std::deque<std::shared_ptr<Work>> work_ KUBE_GUARDED_BY(stateMutex_);
  std::atomic<bool> back_ = false;  // the loop's thread waits for the loop

  // These two exist from the first work on.
  std::optional<Descriptor> alarm_;
  std::thread thread_;
};

}  // namespace kube::detail
