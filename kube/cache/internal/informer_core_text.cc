// The texts that an informer says about itself.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "kube/cache/internal/handlers.h"
#include "kube/cache/internal/informer_core.h"

namespace kube::detail {

namespace {

std::string counted(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string errorsOf(const ReflectorStats& source) {
  if (source.errors == 0) return {};
  return fmt::format("; {}, the last: {}", counted(source.errors, "error"), source.lastError);
}

// Names the first few.
std::string someOf(const std::vector<String>& names) {
  constexpr std::size_t kNamed = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", names[i].view());
  }
  return names.size() > kNamed ? text + ", ..." : text;
}

}  // namespace

std::string InformerCore::title() const {
  const Lock lock(stateMutex_);
  std::string text(name());
  if (!selection_.empty()) text += " with " + selection_;
  if (sources_.make) {
    const auto count = std::ranges::count_if(members_, &Member::wanted);
    text += " in " + counted(static_cast<std::uint64_t>(count), "namespace");
  }
  return text;
}

std::string InformerCore::describeSync() const {
  ReflectorStats missing;
  const std::string text = stateText(missing);
  return text + errorsOf(missing);
}

// `missing` receives the counts of the namespaces that have not synced.
std::string InformerCore::stateText(ReflectorStats& missing) const {
  if (!hasStarted()) return title() + ": not started";
  if (isStopped()) return title() + ": stopped";
  if (hasSynced()) {
    return fmt::format("{}: synced at version {}", title(), lastSyncResourceVersion().view());
  }
  std::vector<String> where;
  {
    const Lock lock(stateMutex_);
    for (const Member& member : members_) {
      if (!member.wanted || member.listed) continue;
      missing += member.part->stats();
      if (member.part->namespaceName()) where.push_back(*member.part->namespaceName());
    }
  }
  return fmt::format("{}: not synced yet{}", title(),
                     where.empty() ? "" : fmt::format(" in {} ({})", where.size(), someOf(where)));
}

std::string InformerCore::describe() const {
  const InformerStats now = stats();
  ReflectorStats missing;
  std::string text = fmt::format(
      "{}, {}; {}, {}, {}", stateText(missing), counted(now.objects, "object"),
      counted(now.source.lists, "list"),
      fmt::format("{} watch{}", now.source.watches, now.source.watches == 1 ? "" : "es"),
      counted(now.source.events, "event"));
  if (const std::uint64_t kilobytes = now.source.sharedBytes / 1000; kilobytes != 0) {
    text += fmt::format(", {} kB shared", kilobytes);
  }
  text += fmt::format("; {}", counted(now.handlers, "handler"));
  for (const std::string& busy : handlers()->busy()) text += ", " + busy;
  if (now.pending != 0) {
    text += fmt::format(", {} waiting for up to {} ms", counted(now.pending, "notification"),
                        std::chrono::duration_cast<std::chrono::milliseconds>(now.lag).count());
  }
  if (now.handlerFailures != 0) {
    text += ", " + counted(now.handlerFailures, "failure") + " of them";
  }
  return text + errorsOf(now.source);
}

}  // namespace kube::detail
