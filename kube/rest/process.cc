#include "kube/rest/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "kube/base/error.h"
#include "kube/rest/descriptor.h"
#include "kube/rest/files.h"

extern char** environ;

namespace kube::detail {
namespace {

std::string systemError(int error) { return std::generic_category().message(error); }

/// Why a process has to end early, told by other threads through something that poll() sees.
class Interrupt {
 public:
  enum class Reason { None, Stopped, TimedOut, Overdue };

  explicit Interrupt(std::string_view what) : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_.get() < 0) throw Error(fmt::format("{}: eventfd: {}", what, systemError(errno)));
  }
  void raise(Reason reason) {
    Reason none = Reason::None;
    reason_.compare_exchange_strong(none, reason);
    ::eventfd_write(wake_.get(), 1);
  }
  Reason reason() const { return reason_.load(); }
  int fd() const { return wake_.get(); }

 private:
  Descriptor wake_;
  std::atomic<Reason> reason_{Reason::None};
};

/// A started process; destroying it kills and reaps it.
class Child {
 public:
  Child(pid_t pid, bool leadsGroup) : pid_(pid), leadsGroup_(leadsGroup) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    ::kill(leadsGroup_ ? -pid_ : pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }

  /// Whether it has ended; then its status is there.
  bool reap(int& status) {
    pid_t reaped = 0;
    do {
      reaped = ::waitpid(pid_, &status, WNOHANG);
    } while (reaped < 0 && errno == EINTR);
    if (reaped == 0) return false;
    // A process that ignores SIGCHLD never learns how its children ended.
    if (reaped < 0) status = 0;
    pid_ = -1;
    return true;
  }

 private:
  pid_t pid_;
  const bool leadsGroup_;
};

std::string_view nameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// This process's variables and the given ones; of the same name the last wins.
std::vector<char*> environmentWith(const std::vector<std::string>& variables) {
  std::vector<char*> result;
  const auto overridden = [&](std::string_view name, auto from) {
    return std::any_of(from, variables.end(),
                       [&](const std::string& other) { return nameOf(other) == name; });
  };
  for (char** own = environ; own != nullptr && *own != nullptr; ++own) {
    if (!overridden(nameOf(*own), variables.begin())) result.push_back(*own);
  }
  for (auto at = variables.begin(); at != variables.end(); ++at) {
    if (!overridden(nameOf(*at), at + 1)) result.push_back(const_cast<char*>(at->c_str()));
  }
  result.push_back(nullptr);
  return result;
}

class SpawnSettings {
 public:
  SpawnSettings(int output, bool passStdin, bool ownGroup) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    if (!passStdin) {
      ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    // Signals that a thread of this program has blocked or ignores mean nothing to another program.
    sigset_t none, defaults;
    ::sigemptyset(&none);
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_,
                               static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  (ownGroup ? POSIX_SPAWN_SETPGROUP : 0)));
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

void throwIf(const Interrupt& interrupt, std::string_view what) {
  switch (interrupt.reason()) {
    case Interrupt::Reason::None:
      return;
    case Interrupt::Reason::Stopped:
      throw CanceledError(fmt::format("{}: stopped while it was running", what));
    case Interrupt::Reason::TimedOut:
      throw TransportError(fmt::format("{}: it took too long and was ended", what));
    case Interrupt::Reason::Overdue:
      throw TimeoutError(
          fmt::format("{}: it was ended, for the request that it runs for has no more time", what));
  }
}

void readAll(int pipe, const Interrupt& interrupt, std::size_t limit, std::string_view what,
             std::string& output) {
  pollfd watched[] = {{pipe, POLLIN, 0}, {interrupt.fd(), POLLIN, 0}};
  char buffer[16 << 10];
  for (;;) {
    if (::poll(watched, 2, -1) < 0 && errno != EINTR) {
      throw Error(fmt::format("{}: poll: {}", what, systemError(errno)));
    }
    throwIf(interrupt, what);
    if ((watched[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t n = ::read(pipe, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    output.append(buffer, static_cast<std::size_t>(n));
    if (output.size() > limit) {
      throw TransportError(fmt::format("{}: it wrote more than {} bytes", what, limit));
    }
  }
}

/// Whoever closes its output usually ends at once, so this is no long wait.
int waitForEnd(Child& child, const Interrupt& interrupt, std::string_view what) {
  int status = 0;
  for (int pause = 1; !child.reap(status); pause = std::min(pause * 2, 50)) {
    pollfd watched = {interrupt.fd(), POLLIN, 0};
    ::poll(&watched, 1, pause);
    throwIf(interrupt, what);
  }
  return status;
}

}  // namespace

ProcessResult runProcess(const ProcessCall& call, std::string_view what, Clock& clock,
                         const std::stop_token& stop) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(fmt::format("{}: pipe: {}", what, systemError(errno)));
  }
  const Descriptor input(ends[0]);
  Descriptor output(ends[1]);

  std::vector<char*> arguments = {const_cast<char*>(call.program.c_str())};
  for (const std::string& arg : call.args) arguments.push_back(const_cast<char*>(arg.c_str()));
  arguments.push_back(nullptr);
  const std::vector<char*> variables = environmentWith(call.variables);

  // In a group of its own it can be killed with all that it has started. At a terminal it stays in
  // ours, so that Ctrl-C reaches it and it may read.
  const bool ownGroup = ::isatty(STDIN_FILENO) == 0;
  const SpawnSettings settings(output.get(), call.passStdin, ownGroup);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, call.program.c_str(), settings.actions(),
                                  settings.attributes(), arguments.data(), variables.data());
  if (error != 0) {
    throw ConfigError(fmt::format("{}: cannot run {}: {}", what, call.program, systemError(error)));
  }
  Child child(pid, ownGroup);
  output.close();

  Interrupt interrupt(what);
  const std::stop_callback onStop(stop, [&] { interrupt.raise(Interrupt::Reason::Stopped); });
  const Timer onTimeout =
      clock.callAfter(call.timeout, [&] { interrupt.raise(Interrupt::Reason::TimedOut); });

  const Timer onDeadline =
      call.deadline == Clock::noDeadline
          ? Timer()
          : clock.callAt(call.deadline, [&] { interrupt.raise(Interrupt::Reason::Overdue); });

  ProcessResult result;
  readAll(input.get(), interrupt, call.maxOutput, what, result.output);
  const int status = waitForEnd(child, interrupt, what);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exitCode = WEXITSTATUS(status);
  return result;
}

std::string findProgram(const std::string& command) {
  const auto isProgram = [](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  };
  if (command.find('/') != std::string::npos) return isProgram(command) ? command : std::string();
  const std::string path = environment("PATH");
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    if (path[start] == '/') {
      std::string candidate = path.substr(start, end - start) + "/" + command;
      if (isProgram(candidate)) return candidate;
    }
    start = end + 1;
  }
  return {};
}

}  // namespace kube::detail
