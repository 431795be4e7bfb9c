// The flag --dry-run, with kubectl's values.
#pragma once

#include <string>
#include <string_view>

namespace kube::cmd {

/// Client: nothing is sent. Server: the server validates the request and persists nothing.
enum class DryRun : unsigned char { None, Client, Server };

/// Parses "server", or the flag alone; "client"; "none", or no flag. Throws UsageError.
DryRun parseDryRun(const std::string& flag);

/// The end of a line of output: " (server dry run)", " (dry run)" or nothing.
std::string_view suffixOf(DryRun dryRun) noexcept;

}  // namespace kube::cmd
