#include "kube/controller/internal/event_name.h"

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <random>

#include "kube/meta/validation/validation.h"

namespace kube {
namespace {

// Returns `now`, or a later time, so that no time is returned twice.
std::int64_t uniqueNanos(std::int64_t now) {
  static std::atomic<std::int64_t> last = 0;
  std::int64_t before = last.load();
  std::int64_t next = 0;
  do {
    next = now > before ? now : before + 1;
  } while (!last.compare_exchange_weak(before, next));
  return next;
}

}  // namespace

std::string eventName(std::string_view objectName, const Clock& clock) {
  const std::int64_t nanos = uniqueNanos(clock.wallNow().time_since_epoch().count());
  std::string name = fmt::format("{}.{:x}", objectName, nanos);
  if (validation::isDNS1123Subdomain(name).empty()) return name;
  thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("event-{:016x}{:016x}", random(), random());
}

}  // namespace kube
