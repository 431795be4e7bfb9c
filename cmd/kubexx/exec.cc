#include "cmd/kubexx/exec.h"

#include <unistd.h>

#include <memory>
#include <optional>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/pod_target.h"
#include "cmd/kubexx/terminal.h"
#include "kube/base/error.h"
#include "kube/base/internal/control_characters.h"

namespace kube::cmd {

namespace {

constexpr int kSignalled = 128;

ContainerSession start(const PodClient& pods, const ExecCommand& command,
                       const std::string& container, bool tty, const StandardFiles& files,
                       const std::stop_token& stop) {
  // A closed output ends the command: the next write throws, which destroys the session.
  const auto to = [](int fd) {
    return [fd](std::string_view bytes) {
      if (!writeAll(fd, bytes)) throw Error("the output cannot be written");
    };
  };
  const auto size = tty ? terminalSize(files.in) : std::nullopt;
  if (command.command.empty()) {
    return pods.attach(command.pod,
                       {.container = container,
                        .stdin = command.stdin,
                        .tty = tty,
                        .size = size,
                        .onStdout = to(files.out),
                        .onStderr = to(files.err)},
                       stop);
  }
  List<String> words;
  for (const std::string& word : command.command) words.push_back(word);
  return pods.exec(command.pod,
                   {.container = container,
                    .command = words,
                    .stdin = command.stdin,
                    .tty = tty,
                    .size = size,
                    .onStdout = to(files.out),
                    .onStderr = to(files.err)},
                   stop);
}

}  // namespace

int exec(const ExecCommand& asked, const StandardFiles& files) {
  ExecCommand command = asked;
  command.pod = podName(asked.pod);
  const auto note = [&](std::string_view text) {
    if (command.quiet) return;
    // The text has container names, which come from the server.
    writeAll(files.err, kube::detail::withoutControls(text));
  };
  const bool terminal = command.stdin && isatty(files.in) == 1;
  if (command.tty && !terminal) {
    note("Unable to use a TTY - input is not a terminal or the right kind of file\n");
  }
  const bool tty = command.tty && terminal;

  Interruption interruption;  // made before other threads
  const Config config = command.cluster.load();
  const Clientset clients(config);
  const PodClient pods = clients.coreV1().pods(config.namespace_);
  try {
    std::string defaulted;
    const std::string container =
        containerOf(pods.get(command.pod, {}, interruption.token()), command.container, defaulted);
    note(defaulted);
    auto session = start(pods, command, container, tty, files, interruption.token());
    if (tty && command.command.empty()) {
      note("If you don't see a command prompt, try pressing enter.\n");
    }
    std::optional<RawTerminal> raw;
    if (tty) {
      raw.emplace(files.in);
      interruption.onResize([&] {
        if (const auto size = terminalSize(files.in)) session.resize(*size);
      });
    }
    // The callback must not outlive the session, however exec() ends.
    const std::shared_ptr<void> quiet(nullptr, [&](void*) { interruption.onResize({}); });
    std::optional<InputPump> input;
    if (command.stdin) input.emplace(files.in, session, note);
    return session.wait();
  } catch (const CanceledError&) {
    if (interruption.signal() == 0) throw;
    return kSignalled + interruption.signal();
  }
}

namespace {

void addCommon(Command& command, ExecCommand& options) {
  command.option("-c,--container", options.container, "The container, if there are several")
      .flag("-i,--stdin", options.stdin, "Pass standard input on")
      .flag("-t,--tty", options.tty, "Give the process a terminal")
      .flag("-q,--quiet", options.quiet, "Print only the output of the container")
      .argument("pod", options.pod, "The pod")
      .required();
}

}  // namespace

void addExec(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ExecCommand>();
  Command command(app, "exec", "Run a command in a container");
  addCommon(command, *options);
  command.arguments("command", options->command, "The command and its arguments, after --")
      .required();
  command.run([options, &invocation] {
    options->cluster = invocation.flags;
    invocation.exitCode = exec(*options);
  });
}

void addAttach(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ExecCommand>();
  Command command(app, "attach", "Attach to a container's own process");
  addCommon(command, *options);
  command.run([options, &invocation] {
    options->cluster = invocation.flags;
    invocation.exitCode = exec(*options);
  });
}

}  // namespace kube::cmd
