#include "cmd/kubexx/pod_target.h"

#include <fmt/core.h>

#include <vector>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/base/joined.h"

namespace kube::cmd {

std::string podName(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return text;
  const std::string kind = text.substr(0, slash);
  if (kind == "pod" || kind == "pods" || kind == "po") return text.substr(slash + 1);
  throw Error(fmt::format("\"{}\": expected a pod, as in \"web\" or \"pod/web\"", text));
}

std::string containerOf(const corev1::Pod& pod, const std::string& named, std::string& note) {
  if (!named.empty()) return named;
  std::vector<std::string> names;
  for (const auto& one : pod.spec->containers) names.push_back(one.name.str());
  if (names.empty()) return {};
  constexpr const char* kAnnotation = "kubectl.kubernetes.io/default-container";
  const String& said = pod.metadata.annotations[kAnnotation];
  if (!said.empty()) return said.str();
  if (names.size() > 1) {
    note = fmt::format("Defaulted container \"{}\" out of: {}\n", names[0], joined(names, ", "));
  }
  return names[0];
}

std::uint16_t podPort(const corev1::Pod& pod, const std::string& text) {
  const auto port = kube::detail::parseNumber<std::uint16_t>(text);
  if (port && *port != 0) return *port;
  for (const auto& container : pod.spec->containers) {
    for (const auto& one : container.ports) {
      if (one.name == text) return static_cast<std::uint16_t>(one.containerPort);
    }
  }
  throw Error(
      fmt::format("pod \"{}\" has no port \"{}\": expected 1 to 65535 or the name of a port "
                  "of its containers",
                  pod.metadata.name, text));
}

}  // namespace kube::cmd
