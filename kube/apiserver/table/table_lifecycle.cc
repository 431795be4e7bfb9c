// Evictions as rows of a table.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kube/api/lifecycle/v1alpha1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/base/internal/text.h"
#include "kube/meta/conditions.h"

namespace kube::apiserver {

namespace {

using lifecyclev1alpha1::Eviction;
using lifecyclev1alpha1::EvictionRequest;
using lifecyclev1alpha1::ResponderStatus;
using lifecyclev1alpha1::TargetResponder;

constexpr std::string_view kUnset = "<unset>";

template <class T>
constexpr TableColumn targetColumn() {
  return text("Target", "the pod that has to go", [](const T& object) {
    const auto& pod = object.spec->target->pod;
    return pod ? pod->name : String(kUnset);
  });
}
template <class T>
constexpr TableColumn targetTypeColumn() {
  return text("Target Type", "the kind of the target",
              [](const T& object) { return object.spec->target->pod ? "Pod" : "<unset>"; });
}

template <class Status>
std::string evictionStatus(const Status& status) {
  for (const std::string_view type : {"TargetEvicted", "Failed"}) {
    const auto* found = findStatusCondition(status.conditions, type);
    if (found != nullptr && found->status == kConditionTrue) {
      return fmt::format("{} ({})", found->type, found->reason);
    }
  }
  return status.observedGeneration.value_or(0) > 0 ? "Progressing" : "Pending";
}

template <class T>
constexpr TableColumn statusColumn() {
  return text("Status", "how far it is",
              [](const T& object) { return evictionStatus(*object.status); });
}

constexpr TableColumn kEvictionRequests[] = {
    nameColumn<EvictionRequest>(),
    targetColumn<EvictionRequest>(),
    targetTypeColumn<EvictionRequest>(),
    statusColumn<EvictionRequest>(),
    text("Requester", "who asks",
         [](const EvictionRequest& request) { return request.spec->requester; }),
    text("Intent", "whether the target is still to go",
         [](const EvictionRequest& request) { return request.spec->intent; }),
    ageColumn<EvictionRequest>(),
};

// --- Responders: each prepares the target in its turn.

bool isProcessed(const TargetResponder& responder) {
  return responder.state == "Canceled" || responder.state == "Interrupted" ||
         responder.state == "Completed";
}

// The responder whose turn it is, or else the last one that has had its turn.
const TargetResponder* currentResponder(const Eviction& eviction) {
  const TargetResponder* processed = nullptr;
  const TargetResponder* active = nullptr;
  for (const TargetResponder& responder : eviction.status->targetResponders) {
    if (responder.state == "Active") active = &responder;
    if (isProcessed(responder)) processed = &responder;
  }
  return active != nullptr ? active : processed;
}

const ResponderStatus* statusOf(const Eviction& eviction, const TargetResponder* responder) {
  if (responder == nullptr) return nullptr;
  for (const ResponderStatus& status : eviction.status->responders) {
    if (status.name == responder->name) return &status;
  }
  return nullptr;
}

std::string responderName(const Eviction& eviction) {
  const auto& all = eviction.status->targetResponders;
  const auto started = std::ranges::count_if(all, [](const TargetResponder& responder) {
    return responder.state == "Active" || isProcessed(responder);
  });
  const TargetResponder* current = currentResponder(eviction);
  return fmt::format("{} ({}/{})", current != nullptr ? std::string_view(current->name) : kUnset,
                     started, all.size());
}

std::string responderState(const Eviction& eviction, Clock::WallTime now) {
  const TargetResponder* current = currentResponder(eviction);
  const ResponderStatus* status = statusOf(eviction, current);
  if (status == nullptr) return std::string(kUnset);
  if (current->state == "Active" && status->startTime) {
    return fmt::format("Started ({} ago)", detail::humanAge(status->startTime, now));
  }
  if (current->state == "Completed" && status->completionTime) {
    return fmt::format("Completed ({} ago)", detail::humanAge(status->completionTime, now));
  }
  return current->state.str();
}

std::string expectedFinish(const Eviction& eviction, Clock::WallTime now) {
  const TargetResponder* current = currentResponder(eviction);
  const ResponderStatus* status = statusOf(eviction, current);
  if (status == nullptr) return "<unknown>";
  if (isProcessed(*current)) return "-";
  const Time expected = status->expectedCompletionTime;
  if (!status->startTime || !expected) return "<unknown>";
  const auto left = expected.timePoint() - now;
  if (left > left.zero()) {
    return "in " +
           detail::humanDuration(std::chrono::duration_cast<std::chrono::microseconds>(left));
  }
  return detail::humanAge(expected, now) + " ago";
}

std::string requesters(const Eviction& eviction) {
  std::vector<std::string> names;
  for (const auto& requester : eviction.status->requesters) {
    if (requester.intent != "Withdrawn") names.push_back(requester.name.str());
  }
  if (names.empty()) return eviction.status->requesters.empty() ? "<none>" : "<withdrawn>";
  std::ranges::sort(names);
  return firstOf(names, 1);
}

constexpr TableColumn kEvictions[] = {
    nameColumn<Eviction>(),
    targetColumn<Eviction>(),
    targetTypeColumn<Eviction>(),
    statusColumn<Eviction>(),
    text("Active Responder", "the responder whose turn it is, and its number",
         [](const Eviction& eviction) { return responderName(eviction); }),
    text("Responder Status", "how far the responder is",
         [](const Eviction& eviction, Clock::WallTime now) {
           return responderState(eviction, now);
         }),
    text("Responder Expected Finish", "when the responder expects to be done",
         [](const Eviction& eviction, Clock::WallTime now) {
           return expectedFinish(eviction, now);
         }),
    text("Requesters", "who asks", [](const Eviction& eviction) { return requesters(eviction); }),
    ageColumn<Eviction>(),
    wide(text("Responder Heartbeat", "the time since the responder was heard of",
              [](const Eviction& eviction, Clock::WallTime now) {
                const auto* status = statusOf(eviction, currentResponder(eviction));
                if (status == nullptr || !status->heartbeatTime) return std::string(kUnset);
                return detail::humanAge(status->heartbeatTime, now) + " ago";
              })),
    wide(text("Responder Status Message", "a sentence of the responder",
              [](const Eviction& eviction) {
                const auto* status = statusOf(eviction, currentResponder(eviction));
                const std::string_view message =
                    status != nullptr ? detail::trim(status->message.value_or(String()))
                                      : std::string_view();
                return String(message.empty() ? kUnset : message);
              })),
};

constexpr KindTable kLifecycleTables[] = {
    kindTable<EvictionRequest>(kEvictionRequests),
    kindTable<Eviction>(kEvictions),
};

}  // namespace

std::span<const KindTable> lifecycleTables() { return kLifecycleTables; }

}  // namespace kube::apiserver
