// A recorder of events for tests: keeps them instead of sending them to a server.
//
//   kube::testing::EventLog events;
//   reconcile(network, events.recorder());
//   events.texts();                            // {"Normal Configured configured 3 subnets"}
//
// Events are neither counted nor combined. To see the events as a server has them, use an
// ApiServer.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <string>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/controller/event_recorder.h"
#include "kube/rest/rest_client.h"

namespace kube::testing {

class EventLog {
 public:
  // In the header, so that kubexx::testing needs no recorder.
  EventLog()
      : recorder_(RestClient(Config{.host = "http://127.0.0.1"}),  // nothing is sent there
                  {.component = "test", .sink = [this](const EventFacts& facts) {
                     const detail::Lock lock(eventsMutex_);
                     events_.push_back(facts);
                   }}) {}

  EventRecorder& recorder() noexcept { return recorder_; }

  /// The events so far, in the order in which they were recorded.
  std::vector<EventFacts> events() const;
  /// The same as texts: type, reason and note.
  std::vector<std::string> texts() const;
  void clear();

 private:
  mutable detail::Mutex eventsMutex_;
  std::vector<EventFacts> events_ KUBE_GUARDED_BY(eventsMutex_);
  EventRecorder recorder_;
};

}  // namespace kube::testing
