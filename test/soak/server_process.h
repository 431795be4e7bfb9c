// An API server in a process of its own, so that its threads and memory do not count.
//
// Thread safety: none. Make it before the process has started a thread.
#pragma once

#include <sys/types.h>

#include <string>

namespace kube::soak {

class ServerProcess {
 public:
  /// Throws Error.
  ServerProcess();
  /// Ends the server.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& kubeconfig() const noexcept { return kubeconfig_; }

 private:
  [[noreturn]] static void serve(int out, int life);

  pid_t pid_ = 0;
  int life_ = -1;
  std::string kubeconfig_;
};

}  // namespace kube::soak
