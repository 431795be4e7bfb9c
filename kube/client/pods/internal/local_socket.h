// A socket of this machine, on the event loop of a transport, for coroutines that run there.
//
// Each function waits for one kind of event; one task at a time waits for each. All of them throw
// CanceledError when a stop is requested. Reads and writes are the caller's, and must not block.
//
// Thread safety: used where the loop runs; destroyed on any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "kube/base/internal/condition.h"
#include "kube/base/internal/mutex.h"
#include "kube/base/task.h"
#include "kube/http/internal/descriptor.h"
#include "kube/http/internal/event_loop.h"

namespace kube::detail {

class LocalSocket final : private EventHandler {
 public:
  /// Takes ownership of the descriptor.
  LocalSocket(std::shared_ptr<EventLoop> loop, int fd);
  ~LocalSocket();
  LocalSocket(const LocalSocket&) = delete;
  LocalSocket& operator=(const LocalSocket&) = delete;

  int fd() const { return socket_.get(); }

  Task<void> readable() { return wait(Readable); }
  Task<void> writable() { return wait(Writable); }
  /// Waits until the connection is broken, so that nothing can be sent or received any more.
  Task<void> broken() { return wait(Broken); }

 private:
  enum Kind : unsigned char { Readable, Writable, Broken };

  Task<void> wait(Kind kind);
  void ask(Kind kind);
  void onEvents(std::uint32_t events) override;
  std::uint32_t wanted() const KUBE_REQUIRES(eventsMutex_);

  const std::shared_ptr<EventLoop> loop_;
  const Descriptor socket_;
  Mutex eventsMutex_;
  std::array<Condition, 3> came_{Condition(eventsMutex_), Condition(eventsMutex_),
                                 Condition(eventsMutex_)};  // by kind
  // True if a task waits, or was destroyed while it waited.
  std::array<bool, 3> waiting_ KUBE_GUARDED_BY(eventsMutex_){};
  std::uint32_t events_ KUBE_GUARDED_BY(eventsMutex_) = 0;  // of watch_
  std::optional<FdWatch> watch_ KUBE_GUARDED_BY(eventsMutex_);
};

}  // namespace kube::detail
