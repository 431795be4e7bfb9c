// kubexx cp: copies files into and out of containers.
#pragma once

#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>

#include "cmd/kubexx/invocation.h"

namespace kube::cmd {

struct CopyCommand {
  ClusterFlags cluster = {};
  std::string from = {}, to = {};  // a local path, or [NAMESPACE/]POD:PATH
  std::string container = {};
  bool noPreserve = false;
};

/// One end of a copy.
struct CopyPlace {
  std::string namespace_ = {}, pod = {};  // no pod: a local path
  std::string path = {};

  static CopyPlace parse(const std::string& text);
};

void copy(const CopyCommand& command, std::ostream& notes, const std::stop_token& stop);

}  // namespace kube::cmd
