#include "kube/rest/internal/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/http/internal/descriptor.h"
#include "kube/http/internal/files.h"

extern char** environ;

namespace kube::detail {
namespace {

std::string systemError(int error) { return std::generic_category().message(error); }

/// The reason to end a process early, set by other threads and visible to poll().
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

  /// Returns whether it has ended, and then its status.
  bool reap(int& status) {
    pid_t reaped = 0;
    do {
      reaped = ::waitpid(pid_, &status, WNOHANG);
    } while (reaped < 0 && errno == EINTR);
    if (reaped == 0) return false;
    // In a process that ignores SIGCHLD, the status of children is lost.
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

/// Returns this process's variables and the given ones; of duplicate names the last wins.
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

/// The arguments of becomeProgram(). posix_spawn() is not used, because it cannot request the
/// child's death with this process.
struct Start {
  const char* path;
  char* const* arguments;
  char* const* variables;
  int output;
  bool passStdin;
  bool ownGroup;
  pid_t parent;
};

// Runs in the new process, which shares the memory of this one until exec. Changes nothing but the
// kernel's state of the new process. Returns the error that prevented exec.
int becomeProgram(const Start& start) {
  // The parent, for the kernel, is the thread that made the process. That thread waits for the end,
  // so it ends early only with the whole process.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (::getppid() != start.parent) return ESRCH;
  if (start.ownGroup && ::setpgid(0, 0) != 0) return errno;
  if (!start.passStdin) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) return errno;
    if (nothing != STDIN_FILENO) ::close(nothing);
  }
  if (::dup2(start.output, STDOUT_FILENO) < 0) return errno;
  // If the output is descriptor 1 already, dup2() does nothing.
  if (start.output == STDOUT_FILENO && ::fcntl(STDOUT_FILENO, F_SETFD, 0) != 0) return errno;
  // Resets signals: blocked or ignored signals of this program mean nothing to another one, and no
  // handler of this program may run here.
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && signal != SIGPIPE))
      continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  if (::sigprocmask(SIG_SETMASK, &none, nullptr) != 0) return errno;
  ::execve(start.path, start.arguments, start.variables);
  return errno;
}

/// Returns the error that prevented the start, or 0 and the new process.
int startProcess(const Start& start, pid_t& pid) {
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) return errno;
  const Descriptor listening(told[0]);
  Descriptor telling(told[1]);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t made = ::vfork();
  if (made == 0) {
    const int error = becomeProgram(start);
    static_cast<void>(!::write(told[1], &error, sizeof error));
    ::_exit(127);
  }
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (made < 0) return error;
  telling.close();
  int failure = 0;
  ssize_t count = 0;
  do {
    count = ::read(listening.get(), &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  pid = made;
  if (count != sizeof failure) return 0;
  while (::waitpid(made, nullptr, 0) < 0 && errno == EINTR) {
  }
  return failure;
}

void throwIf(const Interrupt& interrupt, std::string_view what) {
  switch (interrupt.reason()) {
    case Interrupt::Reason::None:
      return;
    case Interrupt::Reason::Stopped:
      throw CanceledError(fmt::format("{}: stopped while it was running", what));
    case Interrupt::Reason::TimedOut:
      throw TransportError(fmt::format("{}: it took too long and was killed", what));
    case Interrupt::Reason::Overdue:
      throw TimeoutError(
          fmt::format("{}: it was killed, because its request is out of time", what));
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

/// A program that has closed its output usually ends at once, so this wait is short.
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

  // In a group of its own, the program can be killed with its children. At a terminal it stays in
  // this group, so that it may read and Ctrl-C reaches it.
  const bool ownGroup = ::isatty(STDIN_FILENO) == 0;
  pid_t pid = -1;
  if (const int error = startProcess({.path = call.program.c_str(),
                                      .arguments = arguments.data(),
                                      .variables = variables.data(),
                                      .output = output.get(),
                                      .passStdin = call.passStdin,
                                      .ownGroup = ownGroup,
                                      .parent = ::getpid()},
                                     pid)) {
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
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view folder = cut(rest, ':');
    if (!folder.starts_with('/')) continue;
    std::string candidate = std::string(folder) + "/" + command;
    if (isProgram(candidate)) return candidate;
  }
  return {};
}

}  // namespace kube::detail
