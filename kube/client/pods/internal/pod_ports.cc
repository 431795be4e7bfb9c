#include "kube/client/pods/internal/pod_ports.h"

#include <utility>

#include "kube/rest/api_connection.h"

namespace kube::detail {

PodPorts portsOf(const ResourceRequests& pods, std::string_view name) {
  const ApiConnection& connection = *pods.rest().connection();
  return {
      .doing = pods.get(name, "portforward").doing(),
      .connect =
          [pods, name = std::string(name)](std::vector<std::string> protocols, std::uint16_t port,
                                           std::shared_ptr<WebSocketListener> listener) {
            Request request = pods.get(name, "portforward");
            request.param("ports", std::to_string(port));
            return std::move(request).async().webSocket(std::move(protocols), std::move(listener));
          },
      .executor = connection.executor(),
      .loop = connection.loop()};
}

}  // namespace kube::detail
