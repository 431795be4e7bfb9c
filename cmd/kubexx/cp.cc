#include "cmd/kubexx/cp.h"

#include <fmt/core.h>

#include <iostream>
#include <memory>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/pod_target.h"
#include "cmd/kubexx/terminal.h"
#include "kube/base/error.h"
#include "kube/client/pods/pod_copy.h"

namespace kube::cmd {

// A text that begins with a dot or a slash, such as ./a:b, is a local path.
CopyPlace CopyPlace::parse(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.starts_with('.') || text.starts_with('/')) {
    return {.path = text};
  }
  const std::string pod = text.substr(0, colon);
  const std::size_t slash = pod.find('/');
  CopyPlace place{.pod = pod, .path = text.substr(colon + 1)};
  if (slash != std::string::npos) {
    place.namespace_ = pod.substr(0, slash);
    place.pod = pod.substr(slash + 1);
  }
  if (place.pod.empty() || place.pod.find('/') != std::string::npos) {
    throw Error(fmt::format("\"{}\": expected a path, or [NAMESPACE/]POD:PATH", text));
  }
  return place;
}

void copy(const CopyCommand& command, std::ostream& notes, const std::stop_token& stop) {
  const CopyPlace from = CopyPlace::parse(command.from), to = CopyPlace::parse(command.to);
  if (from.pod.empty() == to.pod.empty()) {
    throw Error("expected one path in a pod, such as web:/tmp/a, and one local path");
  }
  const CopyPlace& there = from.pod.empty() ? to : from;
  const Config config = command.cluster.load();
  const PodClient pods = Clientset(config).coreV1().pods(
      there.namespace_.empty() ? config.namespace_ : there.namespace_);
  std::string defaulted;
  const CopyOptions options{
      .container = containerOf(pods.get(there.pod, {}, stop), command.container, defaulted),
      .noPreserve = command.noPreserve,
      .onSkipped = [&](const std::string& what) { notes << "skipped: " << what << '\n'; }};
  notes << defaulted;
  if (from.pod.empty()) {
    copyTo(pods, to.pod, from.path, to.path, options, stop);
  } else {
    copyFrom(pods, from.pod, from.path, to.path, options, stop);
  }
}

void addCopy(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CopyCommand>();
  Command command(app, "cp", "Copy files into and out of containers");
  command.option("-c,--container", options->container, "The container, if there are several")
      .flag("--no-preserve", options->noPreserve,
            "Do not keep the modes and owners of copied files")
      .argument("from", options->from, "A path, or [NAMESPACE/]POD:PATH")
      .required()
      .argument("to", options->to, "The target: a local path if FROM is in a pod, and the reverse")
      .required();
  command.run([options, &invocation] {
    options->cluster = invocation.flags;
    const Interruption interruption;
    copy(*options, std::cerr, interruption.token());
  });
}

}  // namespace kube::cmd
