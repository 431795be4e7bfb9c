#include "cmd/kubexx/serve.h"

#include <fmt/core.h>
#include <pthread.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "cmd/kubexx/input.h"
#include "kube/base/clock.h"
#include "kube/base/error.h"
#include "kube/rest/kubeconfig.h"
#include "kube/testing/api_server.h"

namespace kube::cmd {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

testing::AllowRule ruleOf(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() < 3 || parts.size() > 4) {
    throw Error("--allow \"" + text +
                "\": expected USER:VERBS:RESOURCES[:NAMESPACES], as in ann:get,list:pods");
  }
  testing::AllowRule rule{.users = split(parts[0], ','),
                          .verbs = split(parts[1], ','),
                          .resources = split(parts[2], ',')};
  if (parts.size() == 4) rule.namespaces = split(parts[3], ',');
  return rule;
}

}  // namespace

void serve(const ServeOptions& options, std::ostream& out, const std::stop_token& stop) {
  const bool loopback = options.address.starts_with("127.") || options.address == "::1";
  if (options.plain && !loopback && !options.allowAnonymousAdmin) {
    throw Error(fmt::format(
        "--plain --address {}: every client that reaches this address would be the admin, without "
        "credentials; leave out --plain or --address, or add --allow-anonymous-admin",
        options.address));
  }
  testing::ApiServerOptions server{.address = options.address,
                                   .port = static_cast<std::uint16_t>(options.port),
                                   .tls = !options.plain,
                                   .allowAnonymousAdmin = options.allowAnonymousAdmin,
                                   .token = options.token,
                                   .garbageCollector = !options.keepOrphans,
                                   .keptRequests = 0};
  for (const std::string& file : options.crds)
    server.manifests.push_back(readInput(file, std::cin));
  for (const std::string& user : options.users) {
    const std::size_t equals = user.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == user.size()) {
      throw Error("--user: expected NAME=TOKEN");  // not quoted: the text may be a token
    }
    server.access.tokens[user.substr(equals + 1)] = {.name = user.substr(0, equals), .groups = {}};
  }
  for (const std::string& rule : options.allow) server.access.allow.push_back(ruleOf(rule));

  testing::ApiServer running(std::move(server));
  // Nothing assigns nodes to pods here, and without a node or a script exec would be refused.
  running.containers().exec("", "", testing::runBuiltIn);
  const std::string file =
      options.kubeconfig.empty() ? std::string("kubexx.kubeconfig") : options.kubeconfig;
  Kubeconfig::parse(running.kubeconfig()).write(file);
  out << fmt::format("serving {}\n", running.url());
  out << fmt::format("kubectl --kubeconfig {} get namespaces\n", file) << std::flush;

  realClock().sleepUntil(Clock::noDeadline, stop);
}

void addServe(CLI::App& app) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand(
      "serve", "Run an API server in memory: kubectl and clients can use it as a cluster");
  command->add_option("--port", options->port, "The port; 0 for any free port")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--address", options->address, "The address to listen on")
      ->capture_default_str();
  command->add_option("--kubeconfig", options->kubeconfig,
                      "The file to write the admin's kubeconfig to (kubexx.kubeconfig)");
  command
      ->add_option(
          "--crds", options->crds,
          "YAML files of CustomResourceDefinitions or other objects to create at the start")
      ->check(CLI::ExistingFile);
  command->add_option("--token", options->token, "The admin's bearer token");
  command->add_option("--user", options->users,
                      "NAME=TOKEN: another user, without permissions unless --allow gives some");
  command->add_option("--allow", options->allow,
                      "USER:VERBS:RESOURCES[:NAMESPACES]: a permission of a user");
  command->add_flag("--plain", options->plain,
                    "HTTP without TLS, every client is the admin; only on loopback addresses");
  command->add_flag("--allow-anonymous-admin", options->allowAnonymousAdmin,
                    "Allow --plain on other addresses too");
  command->add_flag("--keep-orphans", options->keepOrphans,
                    "Keep objects whose owners are gone or never existed");
  command->callback([options] {
    // Signals are blocked before any thread starts, so that all threads leave them to `waiter`.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::stop_source source;
    std::thread waiter([&] {
      int signal = 0;
      sigwait(&signals, &signal);
      source.request_stop();
    });
    try {
      serve(*options, std::cout, source.get_token());
    } catch (...) {
      pthread_kill(waiter.native_handle(), SIGTERM);
      waiter.join();
      throw;
    }
    waiter.join();
  });
}

}  // namespace kube::cmd
