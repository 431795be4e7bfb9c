// The commands about pods: exec, attach, logs, port-forward, cp.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>

#include "cmd/kubexx/cp.h"
#include "cmd/kubexx/errors.h"
#include "cmd/kubexx/exec.h"
#include "cmd/kubexx/logs.h"
#include "cmd/kubexx/pod_target.h"
#include "cmd/kubexx/port_forward.h"
#include "cmd/kubexx/run_testing.h"
#include "cmd/kubexx/terminal.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/base/error.h"
#include "kube/base/internal/control_characters.h"
#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/client/pods/internal/tar.h"
#include "kube/meta/api_error.h"
#include "kube/testing/host_program_testing.h"

namespace kube::cmd {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using kube::testing::Process;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Blocks signals before any other thread starts, so that only the command's own thread gets them.
class SignalMask {
 public:
  SignalMask() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int one : {SIGINT, SIGTERM, SIGWINCH}) sigaddset(&signals, one);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

class PodCommandsTest : private SignalMask, public PodServerTest {
 protected:
  PodCommandsTest() {
    fs::create_directories(folder());
    std::ofstream(folder() / "kubeconfig") << server.kubeconfig();
  }
  ~PodCommandsTest() override { fs::remove_all(folder()); }

  fs::path folder() const { return folder_; }
  ClusterFlags cluster() const {
    return {.kubeconfig = (folder() / "kubeconfig").string(), .namespace_ = "book"};
  }

 private:
  const fs::path folder_ = fs::temp_directory_path() / fmt::format("kubexx-pods-{}", getpid());
};

// --- exec and attach with files.

class ExecTest : public PodCommandsTest {
 protected:
  struct Result {
    int code = 0;
    std::string out, err;
  };
  Result run(ExecCommand command, const std::string& input = {}) const {
    command.cluster = cluster();
    std::ofstream(folder() / "in") << input;
    const int in = open((folder() / "in").c_str(), O_RDONLY | O_CLOEXEC);
    const int out = open((folder() / "out").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int err = open((folder() / "err").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    Result result;
    std::exception_ptr error;
    try {
      result.code = exec(command, {in, out, err});
    } catch (...) {
      error = std::current_exception();
    }
    for (const int fd : {in, out, err}) close(fd);
    if (error) std::rethrow_exception(error);
    const auto text = [&](const char* name) {
      std::ifstream file(folder() / name);
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    result.out = text("out");
    result.err = text("err");
    return result;
  }
};

TEST_F(ExecTest, PassesOnOutputAndExitCode) {
  const Result result =
      run({.pod = "web", .command = {"sh", "-c", "echo out; echo err >&2; exit 3"}});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
}

TEST_F(ExecTest, PassesOnInputOnlyIfAsked) {
  EXPECT_EQ(run({.pod = "pod/web", .command = {"cat"}, .stdin = true}, "hello\n").out, "hello\n");
  EXPECT_EQ(run({.pod = "web", .command = {"cat"}}, "hello\n").out, "");
}

TEST_F(ExecTest, ChoosesTheDefaultContainer) {
  create("pair", {"a", "b"});
  Result result = run({.pod = "pair", .command = {"echo", "x"}});
  EXPECT_EQ(result.out, "x\n");
  EXPECT_EQ(result.err, "Defaulted container \"a\" out of: a, b\n");
  EXPECT_EQ(run({.pod = "pair", .command = {"echo"}, .quiet = true}).err, "");
  EXPECT_EQ(run({.pod = "pair", .container = "b", .command = {"echo"}}).err, "");
}

TEST_F(ExecTest, IgnoresTtyIfTheInputIsNoTerminal) {
  const Result result = run({.pod = "web", .command = {"echo", "x"}, .stdin = true, .tty = true});
  EXPECT_EQ(result.out, "x\n");
  EXPECT_THAT(result.err, HasSubstr("Unable to use a TTY"));
}

TEST_F(ExecTest, AttachIsExecWithoutACommand) {
  EXPECT_EQ(run({.pod = "web", .stdin = true}, "hello").out, "hello");
}

TEST_F(ExecTest, ReportsTheServersErrors) {
  EXPECT_THAT(thrown<ApiError>([&] { run({.pod = "nobody", .command = {"x"}}); }),
              HasSubstr("not found"));
  EXPECT_THAT(thrown<ApiError>([&] { run({.pod = "web", .container = "no", .command = {"x"}}); }),
              HasSubstr("container no is not valid"));
  EXPECT_THAT(thrown<ApiError>([&] { run({.pod = "web", .command = {"frobnicate"}}); }),
              HasSubstr("executable file not found"));
  EXPECT_THAT(thrown<Error>([&] { run({.pod = "deploy/web", .command = {"x"}}); }),
              HasSubstr("expected a pod"));
}

// --- exec with a terminal.

class TerminalTest : public PodCommandsTest {
 protected:
  TerminalTest() {
    winsize size{};
    size.ws_col = 100;
    size.ws_row = 30;
    if (openpty(&person_, &program_, nullptr, nullptr, &size) != 0) throw Error("no terminals");
    before_ = settings();
  }
  ~TerminalTest() override {
    close(person_);
    if (program_ >= 0) close(program_);
  }

  std::future<int> start(std::vector<std::string> command) {
    return std::async(std::launch::async, [this, command = std::move(command)] {
      return exec(
          {.cluster = cluster(), .pod = "web", .command = command, .stdin = true, .tty = true},
          {program_, program_, program_});
    });
  }
  void type(std::string_view keys) { ASSERT_TRUE(writeAll(person_, keys)); }
  // Reads the screen up to a text, and returns what was read, with the text.
  std::string see(std::string_view text) {
    std::string& screen = screen_;
    char buffer[1000];
    while (screen.find(text) == std::string::npos) {
      const ssize_t count = ::read(person_, buffer, sizeof buffer);
      if (count <= 0) return screen + " (and no more)";
      screen.append(buffer, static_cast<std::size_t>(count));
    }
    const std::size_t end = screen.find(text) + text.size();
    std::string seen = screen.substr(0, end);
    screen.erase(0, end);
    return seen;
  }
  void resize(unsigned short width, unsigned short height) {
    winsize size{};
    size.ws_col = width;
    size.ws_row = height;
    ioctl(person_, TIOCSWINSZ, &size);
    kill(getpid(), SIGWINCH);  // the kernel sends none: this is not the process' own terminal
  }
  termios settings() const {
    termios now{};
    tcgetattr(program_, &now);
    return now;
  }
  bool isRaw() const { return (settings().c_lflag & (ICANON | ECHO | ISIG)) == 0; }
  void expectRestored() const {
    const termios now = settings();
    EXPECT_EQ(now.c_lflag, before_.c_lflag);
    EXPECT_EQ(now.c_iflag, before_.c_iflag);
    EXPECT_EQ(now.c_oflag, before_.c_oflag);
  }

  int person_ = -1, program_ = -1;
  termios before_{};
  std::string screen_;
};

TEST_F(TerminalTest, RunsAShell) {
  auto code = start({"sh"});
  EXPECT_EQ(see("# "), "# ");
  EXPECT_TRUE(isRaw());
  type("echo hello\r");
  EXPECT_EQ(see("# "), "echo hello\r\nhello\n# ");
  type("exit 4\r");
  EXPECT_EQ(code.get(), 4);
  expectRestored();
}

TEST_F(TerminalTest, PassesOnWindowSizes) {
  auto code = start({"tty-size", "3"});
  EXPECT_EQ(see("\n"), "100x30\n");
  resize(120, 40);
  EXPECT_EQ(see("\n"), "120x40\n");
  resize(80, 24);
  EXPECT_EQ(see("\n"), "80x24\n");
  EXPECT_EQ(code.get(), 0);
}

TEST_F(TerminalTest, PassesCtrlCToTheContainer) {
  program([](Process& process) {
    process.write("ready\n");
    return process.read() == "\3" ? 7 : 1;
  });
  auto code = start({"x"});
  see("ready\n");
  type("\3");
  EXPECT_EQ(code.get(), 7);
  expectRestored();
}

TEST_F(TerminalTest, IsRestoredWhenTheConnectionIsCut) {
  auto code = start({"sh"});
  see("# ");
  ASSERT_TRUE(isRaw());
  server.restart();
  EXPECT_THROW(code.get(), TransportError);
  expectRestored();
}

TEST_F(TerminalTest, IsRestoredAfterASignal) {
  auto code = start({"sh"});
  see("# ");
  ASSERT_TRUE(isRaw());
  kill(getpid(), SIGTERM);
  EXPECT_EQ(code.get(), 128 + SIGTERM);
  expectRestored();
}

TEST_F(ExecTest, ASignalEndsACommandWithoutATerminal) {
  program([](Process& process) {
    kill(getpid(), SIGINT);
    process.clock().sleepFor(1000s, process.stop());
    return 0;
  });
  EXPECT_EQ(run({.pod = "web", .command = {"x"}}).code, 128 + SIGINT);
}

// --- logs, port-forward and cp.

class LogsTest : public PodCommandsTest {
 protected:
  std::string print(LogsCommand command) const {
    command.cluster = cluster();
    command.pod = "web";
    std::string out;
    logs(
        command, [&](std::string_view bytes) { return out += bytes, true; },
        [&](std::string_view note) { out += note; }, {});
    return out;
  }
};

TEST_F(LogsTest, OptionsSelectLines) {
  server.containers().previousLog("book/web", "app", "before\n");
  server.containers().log("book/web", "app", "a\nb\nc\n");
  EXPECT_EQ(print({}), "a\nb\nc\n");
  EXPECT_EQ(print({.tail = 1}), "c\n");
  EXPECT_EQ(print({.previous = true}), "before\n");
  EXPECT_EQ(print({.limitBytes = 3}), "a\nb");
  EXPECT_EQ(print({.since = "1h"}), "a\nb\nc\n");
  EXPECT_EQ(print({.sinceTime = "2100-01-01T00:00:00Z"}), "");
  EXPECT_THAT(print({.timestamps = true, .tail = 1}), AllOf(HasSubstr("Z c\n")));
  EXPECT_THAT(thrown<Error>([&] { print({.since = "1h", .sinceTime = "x"}); }),
              HasSubstr("exclude each other"));
  EXPECT_THROW(print({.since = "soon"}), Error);
  EXPECT_THROW(print({.container = "none"}), ApiError);
}

TEST_F(LogsTest, FollowingContinuesAfterACut) {
  server.containers().append("book/web", "app", "a\n");
  std::string out;
  const LogsCommand command{.cluster = cluster(), .pod = "web", .follow = true};
  logs(
      command,
      [&](std::string_view bytes) {
        out += bytes;
        if (out == "a\n") {
          server.restart();
          server.containers().append("book/web", "app", "b\n");
        }
        return out != "a\nb\n";
      },
      [](std::string_view) {}, {});
  EXPECT_EQ(out, "a\nb\n");
}

// The output of a running command, line by line.
class Lines : public std::stringbuf {
 public:
  std::string next() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 30s, [&] { return text_.find('\n') != std::string::npos; });
    const std::size_t end = std::min(text_.find('\n'), text_.size());
    std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize size) override {
    const std::lock_guard lock(mutex_);
    text_.append(bytes, static_cast<std::size_t>(size));
    changed_.notify_all();
    return size;
  }
  int overflow(int c) override {
    const char byte = static_cast<char>(c);
    xsputn(&byte, 1);
    return c;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

std::string firstWords(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string heard;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    char buffer[1000];
    const ssize_t count = recv(fd, buffer, sizeof buffer, 0);
    heard.assign(buffer, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  close(fd);
  return heard;
}

TEST_F(PodCommandsTest, PortForwardReportsPortsAndConnections) {
  server.containers().port("book/web", 90, [](kube::testing::PortConnection& client) {
    client.write("hello");
    client.read();
  });
  Lines printed, complained;
  std::ostream out(&printed), notes(&complained);
  std::stop_source stop;
  auto over = std::async(std::launch::async, [&] {
    portForward({.cluster = cluster(),
                 .pod = "pod/web",
                 .ports = {":90", "0:91"},
                 .addresses = {"127.0.0.1"}},
                out, notes, stop.get_token());
  });
  int first = 0, second = 0;
  const std::string line = printed.next(), other = printed.next();
  ASSERT_EQ(sscanf(line.c_str(), "Forwarding from 127.0.0.1:%d -> 90", &first), 1) << line;
  ASSERT_EQ(sscanf(other.c_str(), "Forwarding from 127.0.0.1:%d -> 91", &second), 1) << other;
  EXPECT_EQ(firstWords(static_cast<std::uint16_t>(first)), "hello");
  EXPECT_EQ(printed.next(), "Handling connection for " + std::to_string(first));
  EXPECT_EQ(firstWords(static_cast<std::uint16_t>(second)), "");
  EXPECT_THAT(complained.next(), HasSubstr("connection refused"));
  stop.request_stop();
  EXPECT_EQ(over.wait_for(30s), std::future_status::ready);
}

TEST_F(PodCommandsTest, PortsAreNumbersOrNames) {
  corev1::Pod pod;
  pod.spec->containers.push_back({.name = "app"});
  pod.spec->containers[0].ports.push_back({.name = "http", .containerPort = 8080});
  EXPECT_EQ(podPort(pod, "80"), 80);
  EXPECT_EQ(podPort(pod, "http"), 8080);
  for (const char* bad : {"", "0", "65536", "https", "-1", "8x"}) {
    EXPECT_THROW(podPort(pod, bad), Error) << bad;
  }
}

TEST_F(PodCommandsTest, CopiesBothWays) {
  const fs::path there = folder() / "there";
  fs::create_directories(there / "tmp");
  program(kube::testing::hostProgram(there.string()));
  std::ofstream(folder() / "a") << "hello";
  std::ostringstream notes;
  copy({.cluster = cluster(), .from = (folder() / "a").string(), .to = "web:/tmp/b"}, notes, {});
  copy({.cluster = cluster(), .from = "book/web:/tmp/b", .to = (folder() / "c").string()}, notes,
       {});
  std::ifstream back(folder() / "c");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(back), {}), "hello");
  EXPECT_THAT(thrown<Error>([&] { copy({.from = "a", .to = "b"}, notes, {}); }),
              HasSubstr("one path in a pod, such as web:/tmp/a, and one local path"));
}

TEST_F(PodCommandsTest, ContainerOutputIsHarmlessOnATerminal) {
  program([](Process& process) {
    kube::detail::TarWriter tar([&](std::string_view bytes) { return process.write(bytes); });
    tar.begin({.name = "elsewhere/\x1b[2J", .size = 0});
    tar.begin({.name = "d/l", .type = kube::detail::TarEntry::Type::SymLink, .link = "\xc2\x9b"});
    tar.finish();
    process.writeError("tar: \x1b]0;t\x07\b\n");
    return 2;
  });
  std::ostringstream shown;
  {
    const TerminalText terminal(shown);
    try {
      copy({.cluster = cluster(), .from = "web:/d", .to = (folder() / "d").string()}, shown, {});
      ADD_FAILURE();
    } catch (const std::exception& error) {
      shown << errorText(error);
    }
  }
  EXPECT_THAT(shown.str(), AllOf(HasSubstr("skipped: elsewhere/U+001B[2J"), HasSubstr("\"U+009B\""),
                                 HasSubstr("tar: U+001B]0;tU+0007U+0008")));
  EXPECT_EQ(kube::detail::findControl(shown.str()).at, std::string::npos);
}

TEST_F(PodCommandsTest, LogsKeepOnlyColoursOnATerminal) {
  server.containers().append("book/web", "app", "\x1b[32mok\x1b[0m\n\x1b[2J\x1b]0;t\x07\n");
  const std::vector<std::string> words{
      "logs", "web", "--kubeconfig", (folder() / "kubeconfig").string(), "-n", "book"};
  EXPECT_EQ(runKubexx(words, {.terminal = true}).out,
            "\x1b[32mok\x1b[0m\nU+001B[2JU+001B]0;tU+0007\n");
  EXPECT_EQ(runKubexx(words).out, "\x1b[32mok\x1b[0m\n\x1b[2J\x1b]0;t\x07\n");
}

TEST(CopyPlaceTest, ParsesLocalPathsAndPathsInPods) {
  const auto parse = [](const char* text) {
    const CopyPlace place = CopyPlace::parse(text);
    return place.namespace_ + "|" + place.pod + "|" + place.path;
  };
  EXPECT_EQ(parse("a/b"), "||a/b");
  EXPECT_EQ(parse("web:/tmp"), "|web|/tmp");
  EXPECT_EQ(parse("book/web:tmp/a:b"), "book|web|tmp/a:b");
  EXPECT_EQ(parse("./a:b"), "||./a:b");
  EXPECT_EQ(parse("/a:b"), "||/a:b");
  EXPECT_THROW(CopyPlace::parse(":/a"), Error);
  EXPECT_THROW(CopyPlace::parse("a/b/c:d"), Error);
}

}  // namespace
}  // namespace kube::cmd
