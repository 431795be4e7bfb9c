#include "kube/client/pods/port_forward.h"

#include <utility>

#include "kube/client/pods/async_port_forward.h"
#include "kube/client/pods/internal/forwarder.h"

namespace kube {

using detail::runBlocking;

PortForward::PortForward(detail::PodPorts pod, const std::vector<PortPair>& ports,
                         PortForwardOptions options, const std::stop_token& stop)
    : forward_(std::make_unique<AsyncPortForward>(runBlocking(
          AsyncPortForward::start(std::move(pod), ports, std::move(options), stop), stop))) {}

PortForward::PortForward(PortForward&&) noexcept = default;

PortForward& PortForward::operator=(PortForward&& other) noexcept {
  PortForward moved(std::move(other));
  std::swap(forward_, moved.forward_);
  return *this;
}

PortForward::~PortForward() = default;

const std::vector<BoundPort>& PortForward::ports() const { return forward_->ports(); }
std::size_t PortForward::connections() const { return forward_->connections(); }

void PortForward::wait() const {
  runBlocking(detail::Forwarder::ended(forward_->forwarder_), {});
  forward_->forwarder_->reports().wait();
}

void PortForward::stop() {
  forward_->forwarder_->requestStop();
  wait();
}

}  // namespace kube
