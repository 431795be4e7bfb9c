// Events as rows of a table.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "kube/api/core/v1.h"
#include "kube/apiserver/table/table_columns.h"
#include "kube/base/internal/text.h"

namespace kube::apiserver {

namespace {

using corev1::Event;

std::string firstSeen(const Event& event, Clock::WallTime now) {
  if (event.firstTimestamp) return detail::humanAge(event.firstTimestamp, now);
  return detail::humanAge(event.eventTime, now);
}

std::string lastSeen(const Event& event, Clock::WallTime now) {
  if (event.series) return detail::humanAge(event.series->lastObservedTime, now);
  if (event.lastTimestamp) return detail::humanAge(event.lastTimestamp, now);
  return firstSeen(event, now);
}

// An event of events.k8s.io that happened once has no count.
std::int32_t countOf(const Event& event) {
  if (event.series) return event.series->count;
  return event.count != 0 ? event.count : 1;
}

std::string objectOf(const Event& event) {
  const std::string kind = detail::lower(event.involvedObject->kind);
  const String& name = event.involvedObject->name;
  return name.empty() ? kind : fmt::format("{}/{}", kind, name);
}

std::string sourceOf(const Event& event) {
  const String component = orElse(event.source->component, event.reportingComponent);
  const String instance = orElse(event.source->host, event.reportingInstance);
  return instance.empty() ? component.str() : fmt::format("{}, {}", component, instance);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

constexpr TableColumn kEvents[] = {
    text("Last Seen", "the time since it last happened",
         [](const Event& event, Clock::WallTime now) { return lastSeen(event, now); }),
    text("Type", "Normal or Warning", [](const Event& event) { return event.type; }),
    text("Reason", "what happened, in a word", [](const Event& event) { return event.reason; }),
    text("Object", "what it happened to", [](const Event& event) { return objectOf(event); }),
    wide(text("Subobject", "the part of the object",
              [](const Event& event) { return event.involvedObject->fieldPath; })),
    wide(text("Source", "who says so", [](const Event& event) { return sourceOf(event); })),
    text("Message", "what happened, in a sentence",
         [](const Event& event) { return trimmed(event.message); }),
    wide(text("First Seen", "the time since it first happened",
              [](const Event& event, Clock::WallTime now) { return firstSeen(event, now); })),
    wide(text("Count", "how often it happened", [](const Event& event) { return countOf(event); })),
    wide(nameColumn<Event>()),
};

constexpr KindTable kEventTables[] = {kindTable<Event>(kEvents)};

}  // namespace

std::span<const KindTable> eventTables() { return kEventTables; }

}  // namespace kube::apiserver
