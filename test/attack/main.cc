// kubexx-attack: a client without credentials attacks the health port of a Manager, which runs in
// another process with 1024 descriptors. During each attack, a probe requests /healthz ten times a
// second, over a new connection from the same address.
//
//   kubexx-attack [--seconds N (60)] [--only PART_OF_A_NAME] [--patience MILLISECONDS (1000)]
//                 [--failures N (0)]
//
// Fails if an attack costs more than 64 MB of memory, if /healthz takes longer than the patience,
// or if more probes get no answer than allowed.
#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/base/signal_stop.h"
#include "kube/controller/manager.h"
#include "kube/http/transport.h"
#include "kube/testing/api_server.h"
#include "kube/testing/test_ca.h"
#include "test/attack/attacks.h"

namespace {

using namespace kube;
using namespace std::chrono_literals;
using Time = std::chrono::steady_clock;

constexpr rlim_t kDescriptors = 1024;
constexpr long kMostMegabytes = 64;

struct Flags {
  int seconds = 60;
  std::chrono::milliseconds patience = 1s;
  int failures = 0;
  std::string only = {};
};

// --- The attacked process.

// Runs a Manager that knows its API server, and writes the Manager's URL to the descriptor `tell`.
int runManager(const std::string& server, bool tls, int tell) {
  const rlimit descriptors{kDescriptors, kDescriptors};
  setrlimit(RLIMIT_NOFILE, &descriptors);
  setLogLevel(LogLevel::Off);
  const std::stop_token stop = signalStop();
  Config config;
  config.host = server;
  HttpServerOptions http;
  const TestCa ca;
  if (tls) http.tls = ServerTls{.identity = ca.server({"127.0.0.1"})};
  Manager manager(config, {.http = http, .readyNeedsServer = true});
  manager.add("idle",
              [](const std::stop_token& end) { realClock().sleepUntil(Clock::noDeadline, end); });
  const std::string url = manager.url() + "\n";
  if (write(tell, url.data(), url.size()) < 0) return 1;
  manager.run(stop);
  return 0;
}

class Victim {
 public:
  Victim(const std::string& server, bool tls) {
    int ends[2];
    if (pipe(ends) != 0) throw Error("pipe");
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      const std::string fd = std::to_string(ends[1]);
      execl("/proc/self/exe", "kubexx-attack", "manager", server.c_str(), tls ? "tls" : "plain",
            fd.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    char c = 0;
    while (read(ends[0], &c, 1) == 1 && c != '\n') url_ += c;
    close(ends[0]);
    if (url_.empty()) throw Error("the manager did not start");
  }
  ~Victim() {
    kill(child_, SIGTERM);
    waitpid(child_, nullptr, 0);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  const std::string& url() const { return url_; }
  std::uint16_t port() const {
    return static_cast<std::uint16_t>(std::stoi(url_.substr(url_.rfind(':') + 1)));
  }
  // Returns the resident memory in MB. Throws Error if the process has ended.
  double memory() const { return number("status", "VmRSS:") / 1024; }
  std::size_t descriptors() const {
    std::size_t count = 0;
    const std::string folder = fmt::format("/proc/{}/fd", child_);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      (void)entry;
      ++count;
    }
    return count;
  }
  double cpuSeconds() const {
    std::ifstream in(fmt::format("/proc/{}/stat", child_));
    std::string word;
    double ticks = 0;
    for (int i = 1; i <= 15 && in >> word; ++i) {
      if (i >= 14) ticks += std::stod(word);
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

 private:
  double number(const char* file, std::string_view name) const {
    std::ifstream in(fmt::format("/proc/{}/{}", child_, file));
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with(name)) return std::stod(line.substr(name.size()));
    }
    throw Error("the manager has ended");
  }

  pid_t child_ = -1;
  std::string url_;
};

// --- The attacking process.

// Returns how long the request took, or nothing if the answer was not 200.
std::optional<std::chrono::milliseconds> probe(const Victim& victim, std::string& failure) {
  const auto begin = Time::now();
  try {
    const Transport transport({.tls = {.insecureSkipVerify = true}, .proxy = "direct"});
    const HttpResponse answer = transport.send({.url = victim.url() + "/healthz", .timeout = 10s});
    if (answer.status != 200) {
      failure = fmt::format("status {}", answer.status);
      return std::nullopt;
    }
  } catch (const Error& error) {
    failure = error.what();
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(Time::now() - begin);
}

bool endure(const attack::Attack& one, const std::string& server, bool tls, const Flags& flags) {
  const Victim victim(server, tls);
  std::string failure;
  for (int i = 0; i < 20; ++i) probe(victim, failure);
  const double idle = victim.memory(), cpuBefore = victim.cpuSeconds();
  double most = idle;
  std::size_t descriptors = 0;
  int probes = 0, failures = 0;
  std::chrono::milliseconds worst{0};
  attack::SwarmOptions options = one.swarm;
  options.port = victim.port();
  std::uint64_t opened = 0, said = 0;
  {
    const attack::Swarm swarm(std::move(options));
    const auto end = Time::now() + std::chrono::seconds(flags.seconds);
    for (auto next = Time::now(); Time::now() < end; next += 100ms) {
      std::this_thread::sleep_until(next);
      next = std::max(next, Time::now() - 100ms);
      const auto took = probe(victim, failure);
      ++probes;
      if (took) worst = std::max(worst, *took);
      if (!took) ++failures;
      most = std::max(most, victim.memory());
      descriptors = std::max(descriptors, victim.descriptors());
    }
    opened = swarm.opened();
    said = swarm.bytesSaid();
  }
  const bool good = failures <= flags.failures && worst <= flags.patience &&
                    most - idle <= kMostMegabytes && probes > 0;
  fmt::print(
      "{:<36} {:>7.1f} MB + {:>5.1f} MB, {:>4} descriptors, {:>5.1f} s CPU; {:>4} probes, worst "
      "{:>5} ms, {} failed; {} connections, {} MB{}\n",
      one.name, idle, most - idle, descriptors, victim.cpuSeconds() - cpuBefore, probes,
      worst.count(), failures, opened, said >> 20, good ? "" : "   <-- too much");
  if (failures > 0) fmt::print("    the last failure: {}\n", failure);
  std::fflush(stdout);
  return good;
}

int run(const Flags& flags) {
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  const testing::ApiServer server({.tls = false});
  bool good = true;
  for (const bool tls : {false, true}) {
    for (const attack::Attack& one : attack::attacks(tls)) {
      if (one.name.find(flags.only) == std::string::npos) continue;
      good &= endure(one, server.url(), tls, flags);
    }
  }
  return good ? 0 : 1;
}

int usage() {
  std::cerr
      << "usage: kubexx-attack [--seconds N] [--only PART_OF_A_NAME] [--patience MILLISECONDS] "
         "[--failures N]\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 4 && words[0] == "manager") {
    return runManager(words[1], words[2] == "tls", std::stoi(words[3]));
  }
  signal(SIGPIPE, SIG_IGN);  // OpenSSL's writes raise it
  Flags flags;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return usage();
    const std::string& value = words[i + 1];
    if (words[i] == "--seconds") {
      flags.seconds = std::stoi(value);
    } else if (words[i] == "--failures") {
      flags.failures = std::stoi(value);
    } else if (words[i] == "--only") {
      flags.only = value;
    } else if (words[i] == "--patience") {
      flags.patience = std::chrono::milliseconds(std::stoi(value));
    } else {
      return usage();
    }
  }
  return run(flags);
} catch (const std::exception& error) {
  std::cerr << "kubexx-attack: " << error.what() << "\n";
  return 2;
}
