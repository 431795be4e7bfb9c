#include "kube/cache/informer_state.h"

#include <fmt/core.h>

#include <chrono>

namespace kube::detail {

void InformerBase::expect(State latest, const char* what) const {
  if (state_ <= latest) return;
  throw Error(fmt::format("informer of {}: {}: it {}", name(), what,
                          state_ == State::Stopped ? "has stopped" : "is running already"));
}

std::string InformerBase::describe() const {
  const InformerStats now = stats();
  const auto count = [](std::uint64_t n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  std::string text = fmt::format(
      "{}: {}, {}; {}, {}, {}", name(),
      !hasStarted()  ? "not started"
      : isStopped()  ? "stopped"
      : !hasSynced() ? "not synced yet"
                     : "synced at version " + lastSyncResourceVersion().str(),
      count(now.objects, "object"), count(now.source.lists, "list"),
      fmt::format("{} watch{}", now.source.watches, now.source.watches == 1 ? "" : "es"),
      count(now.source.events, "event"));
  if (const std::uint64_t kilobytes = now.source.sharedBytes / 1000; kilobytes != 0) {
    text += fmt::format(", {} kB shared", kilobytes);
  }
  text += fmt::format("; {}", count(now.handlers, "handler"));
  if (now.pending != 0) {
    text += fmt::format(", {} waiting for up to {} ms", count(now.pending, "notification"),
                        std::chrono::duration_cast<std::chrono::milliseconds>(now.lag).count());
  }
  if (now.handlerFailures != 0) text += ", " + count(now.handlerFailures, "failure") + " of them";
  if (now.source.errors != 0) {
    text +=
        fmt::format("; {}, the last: {}", count(now.source.errors, "error"), now.source.lastError);
  }
  return text;
}

}  // namespace kube::detail
