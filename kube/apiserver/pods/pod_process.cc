#include "kube/apiserver/pods/pod_process.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/internal/base64.h"
#include "kube/base/joined.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/json.h"
#include "kube/meta/any_object.h"
#include "kube/meta/api_error.h"

namespace kube::apiserver {

namespace {

constexpr std::size_t kOutputPiece = 32 << 10;  // the most output in one message
constexpr std::size_t kMaxGathered = 1 << 20;
constexpr std::size_t kMaxSizeText = 1 << 10;
constexpr std::size_t kMaxSizes = 100;  // the most that wait to be read
constexpr std::uint8_t kCloseChannel = 255;

constexpr std::string_view kExecProtocols[] = {"",
                                               "channel.k8s.io",
                                               "base64.channel.k8s.io",
                                               "v4.channel.k8s.io",
                                               "v4.base64.channel.k8s.io",
                                               "v5.channel.k8s.io"};

metav1::Status statusOf(const testing::ContainerCall& call, int code) {
  if (code == 0) return {.status = "Success"};
  metav1::Status status{
      .status = "Failure",
      .message = fmt::format("command terminated with non-zero exit code: error executing command "
                             "[{}], exit code {}",
                             joined(call.command, " "), code),
      .reason = "NonZeroExitCode"};
  status.details->causes.push_back({.reason = "ExitCode", .message = std::to_string(code)});
  return status;
}

}  // namespace

std::span<const std::string_view> execProtocols() noexcept { return kExecProtocols; }

// --- PodProcess.

bool PodProcess::writeTo(std::uint8_t channel, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kOutputPiece);
    if (!deliver(channel, piece)) return false;
    bytes.remove_prefix(piece.size());
  }
  return !stop_.stop_requested();
}

bool PodProcess::write(std::string_view bytes) {
  return writeTo(kStdout, call_.stdout_ ? bytes : std::string_view());
}

bool PodProcess::writeError(std::string_view bytes) {
  if (call_.tty) return write(bytes);
  return writeTo(kStderr, call_.stderr_ ? bytes : std::string_view());
}

std::optional<TerminalSize> PodProcess::nextSize() {
  if (!call_.tty) return std::nullopt;
  detail::Lock lock(sizesMutex_);
  sizesChanged_.wait(lock, stop(), [this]() KUBE_REQUIRES(sizesMutex_) { return !sizes_.empty(); });
  if (sizes_.empty()) return std::nullopt;
  const TerminalSize size = sizes_.front();
  sizes_.pop_front();
  return size;
}

bool PodProcess::received(std::string_view input) { return call_.stdin_ && stdin_.push(input); }

// Parses a stream of small JSON objects; bytes between them are skipped.
bool PodProcess::resized(std::string_view bytes) {
  if (!call_.tty) return true;
  sizeText_.append(bytes);
  std::size_t end = 0;
  while ((end = sizeText_.find('}')) != std::string::npos) {
    const std::string text = sizeText_.substr(0, end + 1);
    sizeText_.erase(0, end + 1);
    try {
      const Value value = parseJson(text);
      const auto part = [&](std::string_view name) {
        return value[name].isInt() ? static_cast<std::uint16_t>(
                                         std::clamp<std::int64_t>(value[name].asInt(), 0, 65535))
                                   : std::uint16_t{0};
      };
      const detail::Lock lock(sizesMutex_);
      sizes_.push_back({part("Width"), part("Height")});
      if (sizes_.size() > kMaxSizes) sizes_.pop_front();
      sizesChanged_.notify_all();
    } catch (const Error&) {
      return false;
    }
  }
  return sizeText_.size() <= kMaxSizeText;
}

void PodProcess::clientGone() {
  stop_.request_stop();  // before the input ends, so that its reader sees the reason
  stdin_.finish();
}

void PodProcess::start(ContainerState& containers, testing::Program program) {
  if (!call_.stdin_) stdin_.finish();
  const auto run = [self = shared_from_this(), program = std::move(program)] {
    metav1::Status status;
    try {
      status = statusOf(self->call_, program(*self));
    } catch (const std::exception& error) {
      status = status::internalError(
          fmt::format("error executing command in container: {}", error.what()));
    } catch (...) {
      status = status::internalError("error executing command in container: unknown");
    }
    self->stdin_.abandon();
    self->finish(status);
  };
  if (containers.start(run)) return;
  stdin_.abandon();
  finish(status::internalError("error executing command in container: too many are running"));
}

// --- WebSocketProcess.

void WebSocketProcess::run(const ServerRequest& request, const Responder& responder,
                           const std::string& protocol, testing::ContainerCall call,
                           testing::Program program, ContainerState& containers) {
  detail::ServerWebSocket::accept(
      request, responder, protocol,
      [protocol, call = std::move(call), program = std::move(program),
       &containers](const std::shared_ptr<detail::ServerWebSocket>& socket) mutable {
        const auto process = std::make_shared<WebSocketProcess>(socket, protocol, std::move(call),
                                                                containers.clock());
        process->listen();
        process->start(containers, std::move(program));
      });
}

WebSocketProcess::WebSocketProcess(std::shared_ptr<detail::ServerWebSocket> socket,
                                   std::string_view protocol, testing::ContainerCall call,
                                   Clock& clock)
    : PodProcess(std::move(call), clock, [socket] { socket->resume(); }),
      socket_(std::move(socket)),
      base64_(protocol.find("base64") != std::string_view::npos),
      closes_(protocol.starts_with("v5.")),
      plainErrors_(!protocol.starts_with("v")) {}

void WebSocketProcess::listen() {
  const auto self = std::static_pointer_cast<WebSocketProcess>(shared_from_this());
  socket_->start({.onData = [self](std::string_view piece, bool first,
                                   bool last) { self->data(piece, first, last); },
                  .onClosed = [self] { self->clientGone(); }});
}

void WebSocketProcess::refuse(std::uint16_t code, std::string_view reason) {
  socket_->close(code, reason);
  clientGone();
}

void WebSocketProcess::data(std::string_view piece, bool first, bool last) {
  if (first) {
    channel_.reset();
    gathered_.clear();
  }
  if (!channel_) {
    if (piece.empty()) return;
    channel_ = static_cast<std::uint8_t>(base64_ ? piece[0] - '0' : piece[0]);
    piece.remove_prefix(1);
  }
  if (!base64_) return message(*channel_, piece, last);
  gathered_.append(piece);
  if (gathered_.size() > kMaxGathered) {
    return refuse(detail::ServerWebSocket::kTooBig, "a base64 message has at most 1 MiB");
  }
  if (!last) return;
  std::string decoded;
  if (!kube::detail::base64Decode(gathered_, decoded)) {
    return refuse(detail::ServerWebSocket::kProtocolError, "a message is not base64");
  }
  message(*channel_, decoded, true);
}

void WebSocketProcess::message(std::uint8_t channel, std::string_view piece, bool last) {
  if (channel == kStdin) {
    if (received(piece)) socket_->pause();
  } else if (channel == kResize) {
    if (!resized(piece)) {
      refuse(detail::ServerWebSocket::kProtocolError, "a terminal's size is not JSON");
    }
  } else if (channel == kCloseChannel && closes_) {
    gathered_.append(piece.substr(0, 2));
    if (!last) return;
    if (gathered_.size() != 1 || static_cast<std::uint8_t>(gathered_[0]) > kResize) {
      return refuse(detail::ServerWebSocket::kProtocolError,
                    "after 255 comes the channel to be closed");
    }
    if (gathered_[0] == kStdin) inputEnded();
  }
}

bool WebSocketProcess::deliver(std::uint8_t channel, std::string_view bytes) {
  if (base64_) {
    std::string text;
    kube::detail::base64Encode(bytes, text);
    const char head = static_cast<char>('0' + channel);
    return socket_->send({&head, 1}, text, stop(), true);
  }
  const char head = static_cast<char>(channel);
  return socket_->send({&head, 1}, bytes, stop());
}

void WebSocketProcess::finish(const metav1::Status& status) {
  if (!plainErrors_) {
    deliver(kStatus, encodeObject(AnyObject(status), Format::Json));
  } else if (status.status != "Success") {
    deliver(kStatus, status.message);
  }
  socket_->close(detail::ServerWebSocket::kNormal);
}

}  // namespace kube::apiserver
