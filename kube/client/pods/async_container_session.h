// The awaitable form of a ContainerSession: the same functions, options and errors, for coroutines.
//
//   auto pods = clients.coreV1().pods("book").async();
//   const kube::ExecOptions options{.command = {"cat"}, .stdin = true};
//   auto cat = co_await pods.exec("web", options);
//   co_await cat.write("hello");
//   cat.closeStdin();
//   for (;;) {
//     const auto piece = co_await cat.read();
//     if (!piece) break;                                  // the end of the output
//     ...
//   }
//   const int code = co_await cat.wait();
//
// Nothing of it needs a thread: 1,000 sessions take one I/O thread.
//
// Stops: a stop ends what the task waits for, with CanceledError, and not the session, which can be
// used again. A stopped write() may have sent a part of its bytes.
//
// Thread safety: one task reads or waits, and one writes, at the same time; everything else may be
// called from any thread. Destroying the session ends it: tasks that still use it throw
// CanceledError.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/task.h"
#include "kube/client/pods/container_session.h"

namespace kube {

class Request;

class AsyncContainerSession {
 public:
  using Stream = ContainerSession::Stream;
  using Piece = ContainerSession::Piece;

  AsyncContainerSession(AsyncContainerSession&&) noexcept;
  AsyncContainerSession& operator=(AsyncContainerSession&&) noexcept;
  ~AsyncContainerSession();

  Task<std::optional<Piece>> read();
  /// The functions onStdout and onStderr are called where the task runs.
  Task<int> wait();
  Task<ContainerOutput> output(std::size_t maxBytes = std::size_t{64} << 20);

  Task<bool> write(std::string bytes);

  // ---- These never wait.
  bool canCloseStdin() const;
  void closeStdin();
  void resize(TerminalSize size);
  void cancel();

  /// For clients.
  static Task<AsyncContainerSession> start(Request request, ExecOptions options);

 private:
  friend class ContainerSession;
  struct State;
  explicit AsyncContainerSession(std::shared_ptr<State> state);
  /// The bytes outlive the task.
  Task<bool> writeView(std::string_view bytes);

  std::shared_ptr<State> state_;
};

}  // namespace kube
