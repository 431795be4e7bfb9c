// A server with Boost.Asio and one thread: it answers requests from what an informer has told it,
// asks the API server for more, and has a timer. Nothing in it blocks, and nothing needs a mutex.
//
//   asio_server [PORT]        http://127.0.0.1:8080/ and /pods/NAME, until Ctrl-C

#include "kube/asio.h"

#include <fmt/core.h>

#if defined(BOOST_ASIO_HAS_CO_AWAIT)

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <cstring>
#include <map>

#include "kube/cache/core/v1.h"
#include "kube/cache/shared_informer_factory.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/core/v1.h"
#include "kube/meta/api_error.h"

namespace {

using boost::asio::awaitable;
using boost::asio::use_awaitable;
using boost::asio::ip::tcp;
using kube::corev1::Pod;
using namespace std::chrono_literals;
using Pods = kube::AsyncResourceClient<Pod>;
using Phases = std::map<std::string, std::string>;  // by the pod's name

awaitable<void> sleepFor(std::chrono::milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  co_await timer.async_wait(use_awaitable);
}

awaitable<std::string> answer(const std::string& path, Pods pods, const Phases& phases) {
  std::string text;
  if (!path.starts_with("/pods/")) {
    for (const auto& [name, phase] : phases) text += fmt::format("{} {}\n", name, phase);
    co_return text;
  }
  try {
    const Pod pod = co_await kube::asio::await(pods.get(path.substr(6)));
    text = fmt::format("on node {}\n", pod.spec->nodeName);
  } catch (const kube::Error& error) {
    text = fmt::format("{}\n", error.what());
  }
  co_return text;
}

awaitable<void> serve(tcp::socket socket, Pods pods, const Phases& phases) {
  std::string head;
  auto into = boost::asio::dynamic_buffer(head, 8192);
  co_await boost::asio::async_read_until(socket, into, "\r\n\r\n", use_awaitable);
  const auto from = head.find(' ') + 1;
  const std::string path = head.substr(from, head.find(' ', from) - from);
  const std::string body = co_await answer(path, pods, phases);
  const std::string reply = fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", body.size(), body);
  co_await boost::asio::async_write(socket, boost::asio::buffer(reply), use_awaitable);
}

awaitable<void> accept(tcp::acceptor acceptor, Pods pods, const Phases& phases) {
  const auto closed = [](std::exception_ptr) {};  // the client has gone
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    const auto executor = socket.get_executor();
    boost::asio::co_spawn(executor, serve(std::move(socket), pods, phases), closed);
  }
}

awaitable<void> report(const Phases& phases) {
  for (;;) {
    fmt::print("{} pods\n", phases.size());
    co_await sleepFor(10s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  unsigned short port = 8080;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), port);
  try {
    const auto config = kube::Config::load();
    const kube::Clientset clients(config);
    const auto pods = clients.coreV1().pods(config.namespace_).async();
    Phases phases;

    boost::asio::io_context io(1);
    kube::SharedInformerFactory factory(clients, {.namespace_ = config.namespace_});
    const auto note = [&](const auto& pod) {
      phases[pod->metadata.name.str()] = pod->status->phase;
    };
    factory.coreV1().pods().addHandler(
        {.onAdd = note,
         .onUpdate = [&](const auto&, const auto& pod) { note(pod); },
         .onDelete = [&](const auto& pod) { phases.erase(kube::keyOf(*pod).name.str()); }},
        {.executor = kube::asio::executor(io)});
    factory.start();
    const auto failed = [&](std::exception_ptr error) {
      if (error) std::rethrow_exception(error);
    };
    tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), port});
    fmt::print("http://127.0.0.1:{}/\n", acceptor.local_endpoint().port());
    boost::asio::co_spawn(io, accept(std::move(acceptor), pods, phases), failed);
    boost::asio::co_spawn(io, report(phases), failed);
    boost::asio::signal_set signals(io, SIGINT, SIGTERM);
    signals.async_wait([&](auto, auto) { io.stop(); });
    io.run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

#else

int main() { fmt::print("This Boost has no coroutines for this compiler.\n"); }

#endif
