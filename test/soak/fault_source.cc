#include "test/soak/fault_source.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "test/soak/patience.h"

namespace kube::soak {

using namespace std::chrono_literals;
using testing::Fault;
using testing::WatchFault;

FaultSource::FaultSource(testing::ApiServer& server, Writers& writers, Problems& problems,
                         std::atomic<int>& histories, FaultSourceOptions options)
    : server_(server),
      writers_(writers),
      problems_(problems),
      histories_(histories),
      options_(std::move(options)),
      random_(options_.seed),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void FaultSource::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void FaultSource::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    ++counts_[next(stop)];
    realClock().sleepFor(std::chrono::milliseconds(upTo(25)), stop);
  }
  server_.forgetAll();
  server_.goSilent(false);
  server_.restart();  // ends the watches that have fallen silent
}

std::string FaultSource::next(const std::stop_token& stop) {
  const int kind = upTo(100);
  if (kind <= 30) {
    constexpr std::pair<WatchFault, const char*> kWatchFaults[] = {
        {WatchFault::End, "watch ends"},
        {WatchFault::Cut, "watch cut"},
        {WatchFault::CutInFrame, "watch cut in frame"},
        {WatchFault::Garbage, "watch garbage"},
        {WatchFault::Silence, "watch silent"},
        {WatchFault::Expire, "watch expires"}};
    const auto& [fault, name] = kWatchFaults[upTo(std::size(kWatchFaults)) - 1];
    server_.failWatches(fault, upTo(2) == 1 ? "configmaps" : "");
    return name;
  }
  if (kind <= 75) return failRequests();
  if (kind <= 85) {
    server_.expireRevisions();
    server_.failWatches(WatchFault::Cut);
    return "revisions expire";
  }
  if (kind <= 92) {
    server_.restart();
    return "restart";
  }
  if (kind <= 96) {
    server_.goSilent(true);
    // In most cases long enough to be noticed.
    realClock().sleepFor(std::chrono::milliseconds(upTo(600)), stop);
    server_.goSilent(false);
    return "server silent";
  }
  if (kind <= 98 && options_.newHistories > 0) {
    --options_.newHistories;
    restartWithNewHistory(stop);
    return "new history";
  }
  server_.forgetAll();
  return "quiet";
}

// Makes some of the next requests fail.
std::string FaultSource::failRequests() {
  constexpr const char* kVerbs[] = {"watch", "list", "watch", "list", "create", "update", "delete"};
  Fault fault{.verb = kVerbs[upTo(std::size(kVerbs)) - 1], .times = upTo(3)};
  if (upTo(2) == 1) fault.resource = "configmaps";
  switch (upTo(8)) {
    case 1:
      fault.status = 500;
      break;
    case 2:
      fault.status = 503;
      break;
    case 3:
      fault.status = 429;
      if (upTo(5) == 1) {
        fault.retryAfter = 1;
        fault.times = 1;
      }
      break;
    case 4:
      fault.cut = true;
      break;
    case 5:
      fault.cutInBody = true;
      break;
    case 6:
      fault.garbage = true;
      break;
    case 7:
      fault.delay = std::chrono::milliseconds(upTo(150));
      fault.times = upTo(20);
      break;
    case 8:
      fault.status = 410;
      break;
  }
  const std::string what = fault.status != 0 ? fmt::format("{}", fault.status)
                           : fault.cut       ? "cut"
                           : fault.cutInBody ? "cut in body"
                           : fault.garbage   ? "garbage"
                                             : "delay";
  server_.inject(fault);
  return fault.verb + " " + what;
}

// Simulates a restore from a backup. Writers pause meanwhile: an informer that reconnects only
// after the new history has overtaken its version cannot notice the restore.
void FaultSource::restartWithNewHistory(const std::stop_token&) {
  server_.forgetAll();
  writers_.pause();
  ++histories_;
  server_.restart(true);
  if (!eventually([&] { return options_.unaware().empty(); })) {
    problems_.add("the new history was not noticed by " + options_.unaware());
  }
  writers_.resume();
}

}  // namespace kube::soak
