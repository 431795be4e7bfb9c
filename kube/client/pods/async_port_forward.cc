#include "kube/client/pods/async_port_forward.h"

#include <utility>

#include "kube/client/pods/internal/forwarder.h"

namespace kube {

namespace {

// Both tasks have what they need when the forward is destroyed.
Task<void> bothEnded(Task<void> forwarding, Task<void> reports) {
  co_await std::move(forwarding);
  co_await std::move(reports);
}

}  // namespace

AsyncPortForward::AsyncPortForward(std::shared_ptr<detail::Forwarder> forwarder)
    : forwarder_(std::move(forwarder)) {}
AsyncPortForward::AsyncPortForward(AsyncPortForward&&) noexcept = default;

AsyncPortForward& AsyncPortForward::operator=(AsyncPortForward&& other) noexcept {
  AsyncPortForward moved(std::move(other));
  std::swap(forwarder_, moved.forwarder_);
  return *this;
}

AsyncPortForward::~AsyncPortForward() {
  if (forwarder_) forwarder_->close();
}

Task<AsyncPortForward> AsyncPortForward::start(detail::PodPorts pod, std::vector<PortPair> ports,
                                               PortForwardOptions options, std::stop_token until) {
  AsyncPortForward forward(
      std::make_shared<detail::Forwarder>(std::move(pod), std::move(options), until));
  co_await forward.forwarder_->open(std::move(ports));
  forward.forwarder_->begin();
  co_return forward;
}

const std::vector<BoundPort>& AsyncPortForward::ports() const { return forwarder_->ports(); }
std::size_t AsyncPortForward::connections() const { return forwarder_->connections(); }

Task<void> AsyncPortForward::wait() const {
  return bothEnded(detail::Forwarder::ended(forwarder_), forwarder_->reports().join());
}

Task<void> AsyncPortForward::stop() {
  forwarder_->requestStop();
  return wait();
}

}  // namespace kube
