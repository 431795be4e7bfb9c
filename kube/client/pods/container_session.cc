#include "kube/client/pods/container_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "kube/base/internal/mutex.h"
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

struct ContainerSession::State {
  std::string doing;
  std::function<void(std::string_view)> onStdout, onStderr;
  bool hasStdin = false;
  std::shared_ptr<ContainerChannels> channels = std::make_shared<ContainerChannels>();
  WebSocket socket = {};
  ContainerChannels::Block reading = {};  // used by the reader

  detail::Mutex stdinMutex = {};  // held while a message to stdin is sent in pieces
  bool stdinClosed KUBE_GUARDED_BY(stdinMutex) = false;

  bool take() {
    socket.consumed(reading.bytes.size());
    if (!channels->hasSomething()) socket.drive([this] { return channels->hasSomething(); });
    return channels->take(reading);
  }
  // Throws the error of the connection, unless the server has closed it properly.
  void checkEnd() const {
    if (channels->end().error) std::rethrow_exception(channels->end().error);
  }
  int exitCode() const;
};

// The Status decides; without one, the end of the connection.
int ContainerSession::State::exitCode() const {
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

ContainerSession::ContainerSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
ContainerSession::ContainerSession(ContainerSession&&) noexcept = default;
ContainerSession& ContainerSession::operator=(ContainerSession&&) noexcept = default;
ContainerSession::~ContainerSession() = default;

ContainerSession ContainerSession::start(Request request, const ExecOptions& options,
                                         const std::stop_token& stop) {
  auto state = std::make_unique<State>();
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
  state->socket =
      request.webSocket({std::string(kClosing), std::string(kOlder)}, state->channels, stop);
  ContainerSession session(std::move(state));
  if (options.size) session.resize(*options.size);
  return session;
}

std::optional<ContainerSession::Piece> ContainerSession::read() {
  if (state_->take()) {
    const ContainerChannels::Block& block = state_->reading;
    return Piece{block.channel == ContainerChannels::kStdout ? Stream::Stdout : Stream::Stderr,
                 block.bytes};
  }
  if (state_->channels->status().empty()) state_->checkEnd();
  return std::nullopt;
}

int ContainerSession::wait() {
  while (const auto piece = read()) {
    const auto& sink = piece->stream == Stream::Stdout ? state_->onStdout : state_->onStderr;
    if (sink) sink(piece->bytes);
  }
  return state_->exitCode();
}

ContainerOutput ContainerSession::output(std::size_t maxBytes) {
  ContainerOutput all;
  while (const auto piece = read()) {
    if (piece->bytes.size() > maxBytes - all.out.size() - all.err.size()) {
      throw Error(fmt::format("{}: there is more output than the {} bytes allowed", state_->doing,
                              maxBytes));
    }
    (piece->stream == Stream::Stdout ? all.out : all.err) += piece->bytes;
  }
  all.exitCode = state_->exitCode();
  return all;
}

bool ContainerSession::write(std::string_view bytes) {
  const detail::Lock lock(state_->stdinMutex);
  if (!state_->hasStdin || state_->stdinClosed) {
    throw Error(fmt::format("{}: stdin is {}", state_->doing,
                            state_->hasStdin ? "closed" : "not open: set .stdin = true"));
  }
  constexpr char kHead = ContainerChannels::kStdin;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    if (!state_->socket.waitForRoom() || !state_->socket.send({&kHead, 1}, piece)) return false;
    bytes.remove_prefix(piece.size());
  }
  return true;
}

bool ContainerSession::canCloseStdin() const { return state_->socket.protocol() == kClosing; }

void ContainerSession::closeStdin() {
  if (!canCloseStdin()) {
    throw Error(fmt::format(
        "{}: the server speaks {}, which cannot close stdin: the command has to end by itself",
        state_->doing, state_->socket.protocol()));
  }
  const detail::Lock lock(state_->stdinMutex);
  if (std::exchange(state_->stdinClosed, true) || !state_->hasStdin) return;
  constexpr char kMessage[] = {static_cast<char>(ContainerChannels::kClose),
                               ContainerChannels::kStdin};
  state_->socket.send({kMessage, sizeof kMessage});
}

void ContainerSession::resize(TerminalSize size) {
  constexpr char kHead = ContainerChannels::kResize;
  state_->socket.send({&kHead, 1},
                      fmt::format(R"({{"Width":{},"Height":{}}})", size.width, size.height));
}

void ContainerSession::cancel() { state_->socket.cut(); }

}  // namespace kube
