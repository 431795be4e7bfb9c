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
  class Ready;
  enum Kind : unsigned char { Readable, Writable, Broken };

  Task<void> wait(Kind kind);
  void completeOn(Kind kind, std::shared_ptr<Completion> completion);
  void onEvents(std::uint32_t events) override;
  std::uint32_t wanted() const;

  const std::shared_ptr<EventLoop> loop_;
  const Descriptor socket_;
  std::array<std::shared_ptr<Completion>, 3> waiting_;  // by kind; some may be abandoned
  std::uint32_t events_ = 0;                            // of watch_
  std::optional<FdWatch> watch_;
};

}  // namespace kube::detail
