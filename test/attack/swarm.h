// Many connections to one address that all do the same, from one thread, for as long as it lives.
// One that is closed is opened anew.
//
// Thread safety: the counters may be read by any thread.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace kube::attack {

struct SwarmOptions {
  std::uint16_t port = 0;
  std::size_t connections = 1;
  bool tls = false;
  std::string protocol = {};  // of TLS: "h2", or none
  std::string first = {};     // what each says
  std::string again = {};     // and again, as fast as it goes, if anything
  bool reads = true;          // what is answered
};

class Swarm {
 public:
  explicit Swarm(SwarmOptions options);
  ~Swarm();
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;

  std::uint64_t opened() const { return opened_; }
  std::uint64_t bytesSaid() const { return bytesSaid_; }

 private:
  struct Member {
    int fd = -1;
    SSL* tls = nullptr;
    bool shaken = false;
    std::size_t said = 0;       // of what is first
    std::size_t saidAgain = 0;  // of what comes then
    bool wants = true;          // to write
  };

  void run(const std::stop_token& stop);
  bool open(std::size_t index);
  void close(std::size_t index);
  /// False once it is of no use any more.
  bool go(std::size_t index, bool readable);
  bool shake(Member& member);
  bool say(Member& member);
  bool hear(Member& member) const;
  long send(Member& member, const char* data, std::size_t size) const;
  void watch(std::size_t index, int operation);

  const SwarmOptions options_;
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  int epoll_ = -1;
  std::vector<Member> members_;
  std::atomic<std::uint64_t> opened_{0}, bytesSaid_{0};
  std::jthread thread_;
};

}  // namespace kube::attack
