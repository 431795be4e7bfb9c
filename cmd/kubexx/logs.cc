#include "cmd/kubexx/logs.h"

#include <memory>
#include <ostream>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/pod_target.h"
#include "cmd/kubexx/terminal.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/base/error.h"
#include "kube/meta/time.h"

namespace kube::cmd {

void logs(const LogsCommand& command, const std::function<bool(std::string_view)>& out,
          const std::function<void(std::string_view)>& note, const std::stop_token& stop) {
  corev1::PodLogOptions options{.follow = command.follow,
                                .previous = command.previous,
                                .timestamps = command.timestamps,
                                .tailLines = command.tail,
                                .limitBytes = command.limitBytes};
  if (!command.since.empty() && !command.sinceTime.empty()) {
    throw Error("--since and --since-time exclude each other");
  }
  if (!command.since.empty()) {
    const auto since = std::chrono::nanoseconds(Duration::parse(command.since));
    options.sinceSeconds = std::chrono::ceil<std::chrono::seconds>(since).count();
  }
  if (!command.sinceTime.empty()) options.sinceTime = Time::parse(command.sinceTime);
  const Config config = command.cluster.load();
  const PodClient pods = Clientset(config).coreV1().pods(config.namespace_);
  const std::string name = podName(command.pod);
  std::string defaulted;
  options.container = containerOf(pods.get(name, {}, stop), command.container, defaulted);
  note(defaulted);
  LogStream log = command.follow && !command.limitBytes ? pods.followLogs(name, options, stop)
                                                        : pods.logs(name, options, stop);
  while (const auto bytes = log.read()) {
    if (!out(*bytes)) return;
  }
}

void addLogs(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<LogsCommand>();
  Command command(app, "logs", "Print the log of a container");
  command.option("-c,--container", options->container, "The container, if there are several")
      .flag("-f,--follow", options->follow, "Wait for more lines, and print them")
      .flag("-p,--previous", options->previous, "The log from before the container's restart")
      .flag("--timestamps", options->timestamps, "Begin each line with its time")
      .option("--since", options->since, "The age of the oldest line: 5s, 2m, 3h")
      .option("--since-time", options->sinceTime, "The time of the oldest line (RFC 3339)")
      .option("--tail", options->tail, "The number of lines from the end")
      .option("--limit-bytes", options->limitBytes, "The largest number of bytes")
      .argument("pod", options->pod, "The pod")
      .required();
  command.run([options, &invocation] {
    options->cluster = invocation.flags;
    const Interruption interruption;
    ControlFilter shown(true);  // keeps colours: many programs have some in their logs
    const auto print = [&](std::string_view bytes) {
      if (invocation.terminal) {
        invocation.out << OwnText{shown.feed(bytes)} << std::flush;
      } else {
        invocation.out << bytes << std::flush;
      }
      return invocation.out.good();
    };
    try {
      logs(
          *options, print, [&](std::string_view text) { invocation.err << text; },
          interruption.token());
    } catch (const CanceledError&) {
      if (interruption.signal() == 0) throw;
    }
  });
}

}  // namespace kube::cmd
