// Commands in many pods at a time, and a connection to a port of a pod, on one thread.
//
//   async_pods NAMESPACE COMMAND [ARGUMENT ...]
//   async_pods --get NAMESPACE POD PORT

#include <fmt/core.h>

#include <string>
#include <vector>

#include "kube/base/signal_stop.h"
#include "kube/base/when.h"
#include "kube/client/core/v1.h"

namespace {

using namespace std::chrono_literals;

// The first line that the command prints in the pod.
kube::Task<std::string> run(kube::AsyncPodClient pods, std::string pod,
                            kube::List<kube::String> command) {
  const kube::ExecOptions options{.command = std::move(command)};
  try {
    auto session = co_await pods.exec(pod, options);
    const kube::ContainerOutput said = co_await session.output();
    co_return fmt::format("{}: {} (exit code {})", pod, said.out.substr(0, said.out.find('\n')),
                          said.exitCode);
  } catch (const kube::ApiError& error) {  // it does not run, or has no such command
    co_return fmt::format("{}: {}", pod, error.what());
  }
}

kube::Task<> runEverywhere(kube::AsyncPodClient pods, kube::List<kube::String> command) {
  const auto list = co_await pods.list();
  std::vector<kube::Task<std::string>> tasks;
  for (const auto& pod : list.items) {
    tasks.push_back(kube::within(10s, run(pods, pod.metadata.name.str(), command)));
  }
  const auto lines = co_await kube::whenAll(std::move(tasks));
  for (const std::string& line : lines) fmt::print("{}\n", line);
}

kube::Task<> get(kube::AsyncPodClient pods, std::string pod, std::uint16_t port) {
  auto stream = co_await pods.openPort(pod, port);
  co_await stream.write("GET / HTTP/1.0\r\n\r\n");
  for (;;) {
    const auto bytes = co_await stream.read();
    if (!bytes) break;
    fmt::print("{}", *bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool gets = argc == 5 && std::string(argv[1]) == "--get";
  if (argc < 3) {
    fmt::print(stderr,
               "usage: async_pods NAMESPACE COMMAND [ARGUMENT ...]\n"
               "       async_pods --get NAMESPACE POD PORT\n");
    return 2;
  }
  try {
    const kube::Clientset clients(kube::Config::load());
    const auto pods = clients.coreV1().pods(argv[gets ? 2 : 1]).async();
    const std::stop_token stop = kube::signalStop();
    if (gets) {
      kube::blockOn(get(pods, argv[3], static_cast<std::uint16_t>(std::stoi(argv[4]))), stop);
    } else {
      kube::blockOn(runEverywhere(pods, kube::List<kube::String>(argv + 2, argv + argc)), stop);
    }
  } catch (const kube::CanceledError&) {
    return 0;  // Ctrl-C
  } catch (const kube::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
