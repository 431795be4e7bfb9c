#include "kube/rest/internal/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "kube/base/internal/sanitizer.h"
#include "kube/http/internal/descriptor.h"
#include "kube/rest/environment_testing.h"

namespace kube::detail {
namespace {

using test::messageOf;
using test::TemporaryFolder;
using ::testing::HasSubstr;

ProcessResult runShell(const std::string& script, Clock& clock) {
  return runProcess(
      {.program = "/bin/sh", .args = {"-c", script}, .timeout = std::chrono::hours{1}},
      "the script", clock, {});
}

// Returns bytes that arrive within half a minute: "" at the end, "none" if there are none.
std::string someOf(int fd) {
  pollfd watched{fd, POLLIN, 0};
  if (::poll(&watched, 1, 30'000) <= 0) return "none";
  char buffer[100];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  return count > 0 ? std::string(buffer, static_cast<std::size_t>(count)) : "";
}

TEST(ProcessTest, SignalsAreAsInAnyOtherProgram) {
  FakeClock clock;
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  sigset_t blocked, mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask);
  const std::string status = runShell("cat /proc/self/status", clock).output;
  const ProcessResult ended = runShell("kill -TERM $$; exit 3", clock);
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::sigaction(SIGPIPE, &before, nullptr);
  EXPECT_THAT(status, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(status, HasSubstr("SigCgt:\t0000000000000000"));
  const std::size_t at = status.find("SigIgn:\t");
  const auto ignored = std::stoull(status.substr(at + 8, 16), nullptr, 16);
  EXPECT_EQ(ignored >> (SIGPIPE - 1) & 1, 0u);
  EXPECT_EQ(ended.signal, SIGTERM);
}

TEST(ProcessTest, ItReadsNothingUnlessTold) {
  FakeClock clock;
  EXPECT_EQ(runShell("readlink /proc/self/fd/0", clock).output, "/dev/null\n");
}

TEST(ProcessTest, AProgramThatCannotBeRunIsAnErrorWithTheReason) {
  FakeClock clock;
  EXPECT_THAT(messageOf([&] {
                runProcess({.program = "/", .timeout = std::chrono::hours{1}}, "it", clock, {});
              }),
              HasSubstr("it: cannot run /: Permission denied"));
}

TEST(ProcessTest, AProgramDoesNotOutliveItsParent) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer does not let a process be doubled";
  const TemporaryFolder folder;
  const std::string held = folder.path("held"), never = folder.path("never");
  ASSERT_EQ(::mkfifo(held.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(never.c_str(), 0600), 0);
  const pid_t runner = ::fork();
  ASSERT_GE(runner, 0);
  if (runner == 0) {
    FakeClock clock;
    runShell("exec 3>" + held + "; echo there >&3; exec cat <" + never, clock);
    ::_exit(0);
  }
  const Descriptor alive(::open(held.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(someOf(alive.get()), "there\n");
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  EXPECT_EQ(someOf(alive.get()), "") << "the program is still running";
}

}  // namespace
}  // namespace kube::detail
