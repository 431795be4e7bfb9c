#include "examples/network-controller/demo/replica.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "kube/base/error.h"

namespace network {

Replica::Replica(ReplicaOptions options) : options_(std::move(options)) {
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / options_.program;
  if (access(program.c_str(), X_OK) != 0) {
    throw kube::Error(program.string() + ": not found; build it first");
  }
  std::vector<std::string> args{program.string(),
                                "--identity=" + options_.identity,
                                "--kubeconfig=" + options_.kubeconfig,
                                "--namespace=" + options_.namespace_,
                                fmt::format("--lease-duration={}", options_.leaseDuration),
                                fmt::format("--renew-deadline={}", options_.renewDeadline),
                                fmt::format("--retry-period={}", options_.retryPeriod)};
  args.insert(args.end(), options_.more.begin(), options_.more.end());
  std::vector<char*> pointers;
  for (std::string& arg : args) pointers.push_back(arg.data());
  pointers.push_back(nullptr);

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    pid_ = 0;
    throw kube::Error("fork: " + std::generic_category().message(errno));
  }
  if (pid_ > 0) return;
  // The child makes system calls only: other threads may have held any lock during the fork.
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with the thread that started it
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);  // Ctrl-C on the terminal does not reach it
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int log = open(options_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execv(pointers[0], pointers.data());
  _exit(127);
}

int Replica::wait(int options) {
  if (pid_ == 0) return status_;
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(pid_, &status, options);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return -1;
  pid_ = 0;
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

void Replica::kill() {
  if (pid_ != 0) ::kill(pid_, SIGKILL);
  wait(0);
}

int Replica::terminate() {
  if (pid_ != 0) ::kill(pid_, SIGTERM);
  return wait(0);
}

bool Replica::runs() {
  wait(WNOHANG);
  return pid_ != 0;
}

}  // namespace network
