// Copies files and folders into and out of containers, as kubectl cp does, with the tar program of
// the container.
//
//   kube::copyTo(pods, "web", "site", "/var/www/site", {.container = "app"});
//   kube::copyFrom(pods, "web", "/var/log", "logs");
//
// A copy onto an existing folder is placed into it, under its own name. Data is streamed and not
// held in memory. Copies into a container keep modes and times unless the options say otherwise.
// Copies out of a container have the modes that the files have there, and appear when they are
// complete.
//
// Archives from a container are not trusted: names that would leave the target, links and devices
// are skipped, and onSkipped receives the reason.
//
// Errors: those of ContainerSession; Error if a file cannot be read or written, or if the
// container's tar fails, with its message; DecodeError if the received data is not an archive. A
// copy that fails may have created some of the files.
//
// The awaitable forms take an AsyncPodClient. Local files are read and written on threads of
// TaskThreads, because that blocks; a copy holds no thread while it waits for the container. There,
// onSkipped is called on such a thread.
//
//   co_await kube::copyTo(pods.async(), "web", "site", "/var/www/site");
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kube/base/task.h"
#include "kube/client/pods/async_pod_client.h"
#include "kube/client/pods/pod_client.h"

namespace kube {

struct CopyOptions {
  String container = {};
  /// Copies into a container get the default modes and owners of the container's tar.
  bool noPreserve = false;
  std::function<void(const std::string& what)> onSkipped = {};
};

struct CopyResult {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  // of the files' content
};

/// Copies from this machine into a container.
CopyResult copyTo(const PodClient& pods, std::string_view pod, const std::string& local,
                  const std::string& remote, const CopyOptions& options = {},
                  const std::stop_token& stop = {});

/// Copies from a container to this machine.
CopyResult copyFrom(const PodClient& pods, std::string_view pod, const std::string& remote,
                    const std::string& local, const CopyOptions& options = {},
                    const std::stop_token& stop = {});

/// The awaitable forms.
Task<CopyResult> copyTo(const AsyncPodClient& pods, std::string pod, std::string local,
                        std::string remote, CopyOptions options = {});
Task<CopyResult> copyFrom(const AsyncPodClient& pods, std::string pod, std::string remote,
                          std::string local, CopyOptions options = {});

}  // namespace kube
