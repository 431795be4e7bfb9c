// The way to the ports of one pod: how to open a WebSocket to them, and where to run.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kube/base/executor.h"
#include "kube/client/pods/internal/port_tunnel.h"
#include "kube/client/resource_client.h"
#include "kube/http/internal/event_loop.h"

namespace kube::detail {

struct PodPorts {
  std::string doing;  // for messages: `port-forward to pod "web"`
  PortTunnel::Connect connect;
  Executor executor;  // the I/O thread with the loop
  std::shared_ptr<EventLoop> loop;
};

PodPorts portsOf(const ResourceRequests& pods, std::string_view name);

}  // namespace kube::detail
