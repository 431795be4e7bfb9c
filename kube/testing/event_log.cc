#include "kube/testing/event_log.h"

#include <fmt/core.h>

namespace kube::testing {

std::vector<EventFacts> EventLog::events() const {
  const detail::Lock lock(eventsMutex_);
  return events_;
}

std::vector<std::string> EventLog::texts() const {
  std::vector<std::string> result;
  for (const EventFacts& event : events()) {
    result.push_back(fmt::format("{} {} {}", event.type.view(), event.reason.view(), event.note));
  }
  return result;
}

void EventLog::clear() {
  const detail::Lock lock(eventsMutex_);
  events_.clear();
}

}  // namespace kube::testing
