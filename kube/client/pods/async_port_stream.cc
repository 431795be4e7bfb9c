#include "kube/client/pods/async_port_stream.h"

#include <fmt/core.h>

#include <utility>

#include "kube/base/error.h"
#include "kube/client/pods/internal/pod_ports.h"

namespace kube {

namespace {

constexpr std::size_t kStreamPiece = 32 << 10;

Task<std::optional<std::string_view>> readFrom(std::shared_ptr<detail::TunnelStream> stream) {
  co_return co_await stream->read();
}

Task<bool> writeTo(std::shared_ptr<detail::TunnelStream> stream, std::string bytes) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view piece = rest.substr(0, kStreamPiece);
    const bool open = co_await stream->waitForRoom();
    if (!open || !stream->send(piece)) co_return false;
    rest.remove_prefix(piece.size());
  }
  co_return true;
}

}  // namespace

AsyncPortStream::AsyncPortStream(std::shared_ptr<detail::TunnelStream> stream)
    : stream_(std::move(stream)) {}
AsyncPortStream::AsyncPortStream(AsyncPortStream&&) noexcept = default;

AsyncPortStream& AsyncPortStream::operator=(AsyncPortStream&& other) noexcept {
  AsyncPortStream moved(std::move(other));
  std::swap(stream_, moved.stream_);
  return *this;
}

AsyncPortStream::~AsyncPortStream() {
  if (stream_) stream_->drop();
}

Task<AsyncPortStream> AsyncPortStream::open(detail::PodPorts pod, std::uint16_t port) {
  const auto tunnel = co_await detail::PortTunnel::open(pod.connect, port);
  auto stream = tunnel->connect(port, fmt::format("{}, port {}: ", pod.doing, port));
  if (!stream) throw TransportError(fmt::format("{}: the server accepts no stream", pod.doing));
  co_return AsyncPortStream(std::move(stream));
}

Task<std::optional<std::string_view>> AsyncPortStream::read() { return readFrom(stream_); }
Task<bool> AsyncPortStream::write(std::string bytes) { return writeTo(stream_, std::move(bytes)); }
bool AsyncPortStream::endOutput() { return stream_->endOutput(); }

}  // namespace kube
