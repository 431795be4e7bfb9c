#include "kube/testing/event_log.h"

#include <fmt/core.h>

#include "kube/rest/rest_client.h"

namespace kube::testing {

EventLog::EventLog()
    : recorder_(RestClient(Config{.host = "http://127.0.0.1"}),  // nothing is sent there
                {.component = "test", .sink = [this](const EventFacts& facts) {
                   const detail::Lock lock(eventsMutex_);
                   events_.push_back(facts);
                 }}) {}

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
