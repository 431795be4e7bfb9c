// kubexx logs: prints the log of a container.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "cmd/kubexx/invocation.h"

namespace kube::cmd {

struct LogsCommand {
  ClusterFlags cluster = {};
  std::string pod = {};
  std::string container = {};
  bool follow = false;  // continues when a connection breaks
  bool previous = false;
  bool timestamps = false;
  std::string since = {};      // a duration: 5m
  std::string sinceTime = {};  // RFC 3339
  std::optional<std::int64_t> tail = {}, limitBytes = {};
};

/// Passes the log to `out` until it returns false. Passes remarks for the user to `note`.
void logs(const LogsCommand& command, const std::function<bool(std::string_view)>& out,
          const std::function<void(std::string_view)>& note, const std::stop_token& stop);

}  // namespace kube::cmd
