// Options of a handler, given to SharedInformer::addHandler().
//
//   pods.addHandler({.onAdd = [&](auto pod) { queue.add(kube::keyOf(*pod)); }},
//                   {.name = "queue", .quick = true});
//   pods.addHandler({.onUpdate = ...}, {.executor = kube::asio::executor(io)});
//
// Thread safety: values.
#pragma once

#include <optional>
#include <string>

#include "kube/base/clock.h"
#include "kube/base/executor.h"

namespace kube {

struct HandlerOptions {
  /// Appears in the log and in SharedInformer::describe().
  std::string name = {};
  /// Promises that the handler returns at once and never blocks, such as one that puts keys into a
  /// queue. It is then always called where the event arrives, on the thread that all informers
  /// share. If the handler blocks after all, all informers wait for it. A call to the server in it
  /// throws Error. Other handlers may block; they are called there as long as they are brief, and
  /// otherwise on other threads.
  bool quick = false;
  /// The place where the handler is called, such as the program's own event loop, instead of the
  /// threads that handlers of all informers share. It outlives the handler's registration, or the
  /// informer: both end without it, and drop notifications that it has not run. If it refuses work
  /// by an exception, that is logged, and the next notification is the next try.
  Executor executor = {};
  /// How often the handler receives all objects anew, as updates without a change. Unset: as often
  /// as SharedInformerOptions::resync says; 0: never. At least 1 s, and not more often than the
  /// informer itself resyncs.
  std::optional<Clock::Duration> resync = {};
};

}  // namespace kube
