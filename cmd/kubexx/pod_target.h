// Which pod, container and port a command is about.
#pragma once

#include <cstdint>
#include <string>

#include "kube/client/core/v1.h"

namespace kube::cmd {

/// "web" or "pod/web". Throws Error for other kinds.
std::string podName(const std::string& text);

/// The container that is meant where none is named, as kubectl has it: the one of the annotation
/// kubectl.kubernetes.io/default-container, or the first, which `note` is told of where there are
/// several.
std::string containerOf(const corev1::Pod& pod, const std::string& named, std::string& note);

/// A number, or the name of a port of one of the pod's containers. Throws Error.
std::uint16_t podPort(const corev1::Pod& pod, const std::string& text);

}  // namespace kube::cmd
