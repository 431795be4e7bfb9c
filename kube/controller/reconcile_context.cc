#include "kube/controller/reconcile_context.h"

#include <fmt/core.h>

#include <algorithm>

namespace kube {

std::string_view toString(WakeReason::Change change) noexcept {
  using Change = WakeReason::Change;
  switch (change) {
    case Change::Added:
      return "added";
    case Change::Updated:
      return "updated";
    case Change::Deleted:
      return "deleted";
    case Change::Resynced:
      return "resynced";
    case Change::Asked:
      return "asked for";
    case Change::Due:
      return "due";
  }
  return "";
}

std::string WakeReason::str() const {
  if (kind.empty()) return fmt::format("{} ({})", toString(change), source);
  return fmt::format("{} {} {} ({})", kind, object, toString(change), source);
}

std::string ReconcileContext::why() const {
  std::string text;
  for (const WakeReason& reason : reasons) {
    if (!text.empty()) text += ", ";
    text += reason.str();
  }
  if (text.empty()) return attempt > 1 ? "another attempt" : "no change since the last call";
  if (const std::uint64_t more = reasonCount - std::min(reasonCount, std::uint64_t{reasons.size()});
      more != 0) {
    text += fmt::format(", and {} more", more);
  }
  return text;
}

}  // namespace kube
