// A copy of the controller, as a process of its own.
//
//   Replica ada({.identity = "ada", .kubeconfig = file, .namespace_ = "default"});
//   ada.kill();                     // as a machine that loses power
//
// Destroying it kills it, too, and so does the end of the thread that made it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace network {

struct ReplicaOptions {
  std::string program = "network-controller";  // which is beside this one
  std::string identity = {};
  std::string kubeconfig = {};
  std::string namespace_ = "default";  // of the lease
  std::string log = "/dev/null";       // where it writes what it has to say
  double leaseDuration = 3;            // all in seconds
  double renewDeadline = 2;
  double retryPeriod = 0.5;
  std::vector<std::string> more = {};  // other flags
};

class Replica {
 public:
  /// Throws kube::Error if it cannot be started.
  explicit Replica(ReplicaOptions options);
  ~Replica() { kill(); }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  const std::string& identity() const noexcept { return options_.identity; }

  /// At once, without a chance to say goodbye; returns when it is gone.
  void kill();
  /// Asks it to end in order, and waits for that. Returns its exit status, 128 + signal if one
  /// ended it.
  int terminate();
  /// Whether it has not ended by itself.
  bool runs();

 private:
  int wait(int options);

  const ReplicaOptions options_;
  pid_t pid_ = 0;  // 0: it is gone
  int status_ = 0;
};

}  // namespace network
