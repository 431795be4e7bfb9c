// Which cluster, namespace and pod a command is about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/client/core/v1.h"
#include "kube/rest/config.h"

namespace CLI {
class App;
}

namespace kube::cmd {

struct ClusterOptions {
  std::string kubeconfig = {};
  std::string context = {};
  std::string namespace_ = {};

  /// Throws ConfigError.
  Config load() const;
};

/// --kubeconfig, --context and -n.
void addClusterOptions(CLI::App& command, ClusterOptions& options);

/// "web" or "pod/web". Throws Error for other kinds.
std::string podName(const std::string& text);

/// The container that is meant where none is named, as kubectl has it: the one of the annotation
/// kubectl.kubernetes.io/default-container, or the first, which `note` is told of where there are
/// several.
std::string containerOf(const corev1::Pod& pod, const std::string& named, std::string& note);

/// A number, or the name of a port of one of the pod's containers. Throws Error.
std::uint16_t podPort(const corev1::Pod& pod, const std::string& text);

}  // namespace kube::cmd
