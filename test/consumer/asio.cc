// Tasks of kubexx on Boost.Asio.
#include <kube/asio.h>
#include <kube/base/task_scope.h>
#include <kube/base/when.h>
#include <kube/client/async_resource_client.h>
#include <kube/client/core/v1.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <string>

namespace {

kube::Task<std::string> failure(kube::AsyncResourceClient<kube::corev1::Pod> pods) {
  co_await kube::sleepFor(std::chrono::milliseconds(1));
  try {
    co_await kube::within(std::chrono::minutes(1), pods.get("web"));
  } catch (const kube::TransportError& error) {
    co_return error.what();
  }
  co_return "";
}

}  // namespace

int main() {
  kube::Config config;
  config.host = "https://127.0.0.1:1";  // nobody listens there
  config.proxy = "direct";
  const kube::Clientset clients(config);
  const auto pods = clients.coreV1().pods("book").async();

  boost::asio::io_context io;
  std::string one, other;
  kube::TaskScope tasks(kube::asio::executor(io));
  tasks.start(failure(pods));
  kube::asio::await(io, kube::whenAll(failure(pods), tasks.join()),
                    [&](std::exception_ptr, const auto& both) { one = std::get<0>(both); });
  io.run();
  other = kube::blockOn(failure(pods));
  std::printf("%s\n", one.c_str());
  return one.empty() || one != other;
}
