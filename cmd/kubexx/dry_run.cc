#include "cmd/kubexx/dry_run.h"

#include <fmt/core.h>

#include "cmd/kubexx/invocation.h"

namespace kube::cmd {

DryRun parseDryRun(const std::string& flag) {
  if (flag.empty() || flag == "none" || flag == "false") return DryRun::None;
  if (flag == "client") return DryRun::Client;
  if (flag == "true" || flag == "server") return DryRun::Server;
  throw UsageError(
      fmt::format("invalid value \"{}\" for --dry-run: expected none, server or client", flag));
}

std::string_view suffixOf(DryRun dryRun) noexcept {
  if (dryRun == DryRun::None) return "";
  return dryRun == DryRun::Client ? " (dry run)" : " (server dry run)";
}

}  // namespace kube::cmd
