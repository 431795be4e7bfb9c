// The pod, container and port of a command.
#pragma once

#include <cstdint>
#include <string>

#include "kube/client/core/v1.h"

namespace kube::cmd {

/// Parses "web" or "pod/web". Throws Error for other kinds.
std::string podName(const std::string& text);

/// Returns `named` or, if it is empty, kubectl's default: the container of the annotation
/// kubectl.kubernetes.io/default-container, or else the pod's first container. `note` gets a remark
/// if the first of several was chosen.
std::string containerOf(const corev1::Pod& pod, const std::string& named, std::string& note);

/// Parses a port number, or the name of a port of one of the pod's containers. Throws Error.
std::uint16_t podPort(const corev1::Pod& pod, const std::string& text);

}  // namespace kube::cmd
