#include "kube/client/pods/async_container_session.h"

#include <fmt/core.h>

#include <atomic>
#include <utility>

#include "kube/base/internal/text.h"
#include "kube/client/pods/internal/container_channels.h"
#include "kube/codec/json.h"
#include "kube/meta/api_error.h"
#include "kube/meta/v1.h"
#include "kube/rest/request.h"

namespace kube {

namespace {

using detail::ContainerChannels;

constexpr std::string_view kClosing = "v5.channel.k8s.io", kOlder = "v4.channel.k8s.io";
// The most bytes of stdin in one message: as much as upstream's clients send.
constexpr std::size_t kPiece = 32 << 10;

// Returns the exit code in a Status, if it has one.
std::optional<int> exitCodeOf(const metav1::Status& status) {
  if (status.status == "Success") return 0;
  if (status.reason != "NonZeroExitCode") return std::nullopt;
  for (const metav1::StatusCause& cause : status.details->causes) {
    if (cause.reason != "ExitCode") continue;
    if (const auto code = detail::parseNumber<int>(cause.message)) return code;
  }
  return std::nullopt;
}

}  // namespace

// Tasks hold it, so it may outlive its session.
struct AsyncContainerSession::State {
  std::string doing;
  std::function<void(std::string_view)> onStdout, onStderr;
  bool hasStdin = false;
  std::shared_ptr<ContainerChannels> channels = std::make_shared<ContainerChannels>();
  WebSocket socket = {};
  ContainerChannels::Block reading = {};  // used by the reader
  std::atomic<bool> stdinClosed = false;

  static Task<std::optional<Piece>> read(std::shared_ptr<State> self);
  static Task<int> wait(std::shared_ptr<State> self);
  static Task<ContainerOutput> output(std::shared_ptr<State> self, std::size_t maxBytes);
  static Task<bool> write(std::shared_ptr<State> self, std::string_view bytes);
  static Task<bool> writeOwned(std::shared_ptr<State> self, std::string bytes) {
    co_return co_await write(self, bytes);
  }

  // Throws the error of the connection, unless the server has closed it properly.
  void checkEnd() const {
    if (channels->end().error) std::rethrow_exception(channels->end().error);
  }
  int exitCode() const;
  void checkStdin() const;
  void end() const {
    socket.close(1001);
    socket.cut();
  }
};

// The Status decides; without one, the end of the connection.
int AsyncContainerSession::State::exitCode() const {
  const WebSocketEnd& end = channels->end();
  if (channels->status().empty()) {
    checkEnd();
    throw TransportError(fmt::format(
        "{}: the server closed the session without a result of the command (close code {}{}{})",
        doing, end.code, end.reason.empty() ? "" : ": ", end.reason));
  }
  metav1::Status status;
  try {
    decodeJson(TypeOf<metav1::Status>::info, &status, channels->status());
  } catch (const DecodeError&) {
    status = status::internalError(channels->status());
  }
  if (const auto code = exitCodeOf(status)) return *code;
  throw ApiError(std::move(status), doing);
}

Task<std::optional<ContainerSession::Piece>> AsyncContainerSession::State::read(
    std::shared_ptr<State> self) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  if (context.stop.stop_requested()) throw CanceledError(self->doing + ": canceled");
  ContainerChannels& channels = *self->channels;
  ContainerChannels::Block& block = self->reading;
  self->socket.consumed(block.bytes.size());
  block.bytes.clear();
  if (!channels.hasSomething()) {
    if (context.mayBlock) {
      detail::checkMayBlock("exec");
      self->socket.drive([&channels] { return channels.hasSomething(); });
    }
    const bool there = co_await channels.waitForSomething();
    if (!there) throw CanceledError(self->doing + ": canceled");
  }
  if (channels.take(block)) {
    co_return Piece{block.channel == ContainerChannels::kStdout ? Stream::Stdout : Stream::Stderr,
                    block.bytes};
  }
  if (channels.status().empty()) self->checkEnd();
  co_return std::nullopt;
}

Task<int> AsyncContainerSession::State::wait(std::shared_ptr<State> self) {
  for (;;) {
    const auto piece = co_await read(self);
    if (!piece) break;
    const auto& sink = piece->stream == Stream::Stdout ? self->onStdout : self->onStderr;
    if (sink) sink(piece->bytes);
  }
  co_return self->exitCode();
}

Task<ContainerOutput> AsyncContainerSession::State::output(std::shared_ptr<State> self,
                                                           std::size_t maxBytes) {
  ContainerOutput all;
  for (;;) {
    const auto piece = co_await read(self);
    if (!piece) break;
    if (piece->bytes.size() > maxBytes - all.out.size() - all.err.size()) {
      throw Error(
          fmt::format("{}: there is more output than the {} bytes allowed", self->doing, maxBytes));
    }
    (piece->stream == Stream::Stdout ? all.out : all.err) += piece->bytes;
  }
  all.exitCode = self->exitCode();
  co_return all;
}

void AsyncContainerSession::State::checkStdin() const {
  if (hasStdin && !stdinClosed) return;
  throw Error(
      fmt::format("{}: stdin is {}", doing, hasStdin ? "closed" : "not open: set .stdin = true"));
}

Task<bool> AsyncContainerSession::State::write(std::shared_ptr<State> self,
                                               std::string_view bytes) {
  self->checkStdin();
  constexpr char kHead = ContainerChannels::kStdin;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    const bool open = co_await self->socket.waitForRoomAsync();
    if (!open) co_return false;
    self->checkStdin();
    if (!self->socket.send({&kHead, 1}, piece)) co_return false;
    bytes.remove_prefix(piece.size());
  }
  co_return true;
}

AsyncContainerSession::AsyncContainerSession(std::shared_ptr<State> state)
    : state_(std::move(state)) {}
AsyncContainerSession::AsyncContainerSession(AsyncContainerSession&&) noexcept = default;

AsyncContainerSession& AsyncContainerSession::operator=(AsyncContainerSession&& other) noexcept {
  AsyncContainerSession moved(std::move(other));
  std::swap(state_, moved.state_);
  return *this;
}

AsyncContainerSession::~AsyncContainerSession() {
  if (state_) state_->end();
}

Task<AsyncContainerSession> AsyncContainerSession::start(Request request, ExecOptions options) {
  auto state = std::make_shared<State>();
  state->doing = request.doing();
  state->onStdout = options.onStdout;
  state->onStderr = options.onStderr;
  state->hasStdin = options.stdin;
  const auto flag = [&](std::string_view name, bool on) {
    if (on) request.param(name, "true");
  };
  if (!options.container.empty()) request.param("container", options.container);
  for (const String& word : options.command) request.param("command", word);
  flag("stdin", options.stdin);
  flag("stdout", options.stdout);
  flag("stderr", options.stderr && !options.tty);
  flag("tty", options.tty);
  std::vector<std::string> protocols{std::string(kClosing), std::string(kOlder)};
  state->socket =
      co_await std::move(request).async().webSocket(std::move(protocols), state->channels);
  AsyncContainerSession session(std::move(state));
  if (options.size) session.resize(*options.size);
  co_return session;
}

Task<std::optional<ContainerSession::Piece>> AsyncContainerSession::read() {
  return State::read(state_);
}
Task<int> AsyncContainerSession::wait() { return State::wait(state_); }
Task<ContainerOutput> AsyncContainerSession::output(std::size_t maxBytes) {
  return State::output(state_, maxBytes);
}
Task<bool> AsyncContainerSession::writeView(std::string_view bytes) {
  return State::write(state_, bytes);
}
Task<bool> AsyncContainerSession::write(std::string bytes) {
  return State::writeOwned(state_, std::move(bytes));
}

bool AsyncContainerSession::canCloseStdin() const { return state_->socket.protocol() == kClosing; }

void AsyncContainerSession::closeStdin() {
  if (!canCloseStdin()) {
    throw Error(fmt::format(
        "{}: the server speaks {}, which cannot close stdin: the command has to end by itself",
        state_->doing, state_->socket.protocol()));
  }
  if (state_->stdinClosed.exchange(true) || !state_->hasStdin) return;
  constexpr char kMessage[] = {static_cast<char>(ContainerChannels::kClose),
                               ContainerChannels::kStdin};
  state_->socket.send({kMessage, sizeof kMessage});
}

void AsyncContainerSession::resize(TerminalSize size) {
  if (state_->socket.queued() > 2 * WebSocket::kMaxQueued) return;  // the server reads nothing
  constexpr char kHead = ContainerChannels::kResize;
  state_->socket.send({&kHead, 1},
                      fmt::format(R"({{"Width":{},"Height":{}}})", size.width, size.height));
}

void AsyncContainerSession::cancel() { state_->socket.cut(); }

}  // namespace kube
