// Files and folders, copied into and out of containers, as kubectl cp does: by the tar that has to
// be in the container.
//
//   kube::copyTo(pods, "web", "site", "/var/www/site", {.container = "app"});
//   kube::copyFrom(pods, "web", "/var/log", "logs");
//
// What is copied onto a folder that is there goes into it, under its own name. Data is streamed:
// nothing is held in memory. Copies into a container keep modes and times unless told otherwise;
// out of one, files are made with the modes that they have there and become visible when they are
// whole.
//
// What comes out of a container is not trusted: names that would leave the target, links and
// devices are left out, and onSkipped is told why.
//
// Errors: those of ContainerSession; Error where a file cannot be read or written, or the
// container's tar fails, with what it said; DecodeError where what comes is no archive. A copy that
// fails may have made some of the files.
//
// Thread safety: functions, that may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/client/pods/pod_client.h"

namespace kube {

struct CopyOptions {
  String container = {};
  /// Modes and owners of what is copied into a container stay as that makes them.
  bool noPreserve = false;
  std::function<void(const std::string& what)> onSkipped = {};
};

struct CopyResult {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  // of their content
};

/// From this machine into a container.
CopyResult copyTo(const PodClient& pods, std::string_view pod, const std::string& local,
                  const std::string& remote, const CopyOptions& options = {},
                  const std::stop_token& stop = {});

/// From a container to this machine.
CopyResult copyFrom(const PodClient& pods, std::string_view pod, const std::string& remote,
                    const std::string& local, const CopyOptions& options = {},
                    const std::stop_token& stop = {});

}  // namespace kube
