// Many connections to one address that all do the same, driven by one thread until the destructor.
// A connection that the server closes is opened again.
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
  std::string protocol = {};  // for ALPN: "h2", or none
  std::string first = {};     // sent once by each connection
  std::string again = {};     // then sent repeatedly, as fast as possible; may be empty
  bool reads = true;          // read the answers
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
    std::size_t said = 0;       // bytes of `first` that were sent
    std::size_t saidAgain = 0;  // bytes of the current `again` that were sent
    bool wants = true;          // wants to write
  };

  void run(const std::stop_token& stop);
  bool open(std::size_t index);
  void close(std::size_t index);
  /// Returns false if the connection is broken.
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
