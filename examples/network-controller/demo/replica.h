// A copy of the controller in a process of its own.
//
//   Replica ada({.identity = "ada", .kubeconfig = file, .namespace_ = "default"});
//   ada.kill();                     // as if the machine had lost power
//
// The destructor kills the process, and so does the end of the thread that started it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace network {

struct ReplicaOptions {
  std::string program = "network-controller";  // in the folder of this program
  std::string identity = {};
  std::string kubeconfig = {};
  std::string namespace_ = "default";  // of the lease
  std::string log = "/dev/null";       // file for its output
  double leaseDuration = 3;            // in seconds, like the next two
  double renewDeadline = 2;
  double retryPeriod = 0.5;
  std::vector<std::string> more = {};  // other flags
};

class Replica {
 public:
  /// Throws kube::Error if the process cannot be started.
  explicit Replica(ReplicaOptions options);
  ~Replica() { kill(); }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  const std::string& identity() const noexcept { return options_.identity; }

  /// Kills the process with SIGKILL, and returns when it has ended.
  void kill();
  /// Sends SIGTERM and waits for the end of the process. Returns its exit status, or 128 + signal
  /// if a signal ended it.
  int terminate();
  /// Returns whether the process still runs.
  bool runs();

 private:
  int wait(int options);

  const ReplicaOptions options_;
  pid_t pid_ = 0;  // 0: it has ended
  int status_ = 0;
};

}  // namespace network
