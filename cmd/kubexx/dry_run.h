// --dry-run, as kubectl has it.
#pragma once

#include <string>
#include <string_view>

namespace kube::cmd {

/// Client: the server is not even asked. Server: it checks everything, and keeps nothing.
enum class DryRun : unsigned char { None, Client, Server };

/// "server", or the flag alone; "client"; "none" or nothing. Throws UsageError.
DryRun parseDryRun(const std::string& flag);

/// What goes behind a line about what would have been done: " (server dry run)".
std::string_view suffixOf(DryRun dryRun) noexcept;

}  // namespace kube::cmd
