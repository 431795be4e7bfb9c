// Checks of whether a program is well, and what Kubernetes' probes ask for.
//
//   kube::HealthChecks ready("readyz");
//   ready.add("disk", [] { if (diskIsFull()) throw kube::Error("the disk is full"); });
//   kube::ServerResponse answer = ready.answer("/readyz?verbose");
//
// A check is a function that throws if something is wrong. Asked for all, the answer is "ok", or
// 500 with a line for every check; /readyz/disk asks for one, ?verbose for all lines, ?exclude=disk
// for all but one: as kube-apiserver's /readyz does.
//
// Thread safety: every method may be called from any thread, and checks are called by several.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/rest/http_server.h"

namespace kube {

/// Throws if something is wrong.
using HealthCheck = std::function<void()>;

class HealthChecks {
 public:
  /// The name is that of the endpoint, without a slash.
  explicit HealthChecks(std::string name) : name_(std::move(name)) {}

  /// Throws Error where there is one of that name.
  void add(std::string name, HealthCheck check);

  /// Whether a request is for these.
  bool serves(std::string_view target) const;
  /// `target` is path and query.
  ServerResponse answer(std::string_view target) const;

 private:
  const std::string name_;
  mutable std::mutex checksMutex_;
  std::vector<std::pair<std::string, HealthCheck>> checks_;
};

}  // namespace kube
