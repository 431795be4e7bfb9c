#include "kube/cache/internal/reflector_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kube/base/internal/finally.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/periodic_task.h"
#include "kube/client/list_pages.h"
#include "kube/meta/api_error.h"

namespace kube {

namespace {

constexpr std::int64_t kDefaultPageSize = 500;
constexpr auto kLeastWatchTimeout = std::chrono::seconds(300);

// True for 410. Servers before 1.18 use either reason.
bool isExpired(const std::exception& error) { return isResourceExpired(error) || isGone(error); }

// This many watches in a row that break before any event are no accident.
constexpr int kBrokenWatches = 3;
// Errors of the same kind are logged at most once in this time.
constexpr auto kQuietTime = std::chrono::seconds(30);

bool isTransport(const std::exception& error) {
  return dynamic_cast<const TransportError*>(&error) != nullptr;
}

// True if the request did not reach the server, or the server is merely too busy.
bool canTryAgain(const std::exception& error) {
  if (isTooManyRequests(error)) return true;
  const auto* transport = dynamic_cast<const TransportError*>(&error);
  return transport != nullptr && !transport->requestSent();
}

// True if a watch from the same version is likely to work later. Otherwise a list is better.
bool canWatchOn(const std::exception& error) {
  return isTooManyRequests(error) || isUnauthorized(error) || isTransport(error);
}

// Returns whether a message has not been logged for kQuietTime; if so, notes that it is logged now.
bool isDue(std::optional<Clock::TimePoint>& said, Clock::TimePoint now) {
  if (said && now - *said < kQuietTime) return false;
  said = now;
  return true;
}

// True if the server does not support streamed lists.
bool isRefusal(const std::exception& error) {
  return isInvalid(error) || isBadRequest(error) || isMethodNotSupported(error) ||
         isNotAcceptable(error);
}

}  // namespace

void logWatchError(const Logger& log, const std::exception& error) {
  if (isExpired(error)) {
    log.debug("listing again: {}", error.what());
  } else {
    log.warning("{}", error.what());
  }
}

namespace detail {

namespace {

ReflectorOptions named(ReflectorOptions options, const TypeInfo& type) {
  if (options.name.empty() && type.resource != nullptr) options.name = type.resource->plural;
  return options;
}

}  // namespace

ReflectorLoop::ReflectorLoop(const ObjectType& type, ObjectSource& source,
                             ReflectorStore<void>& store, ReflectorOptions options,
                             UntypedTransform transform)
    : type_(type),
      source_(source),
      store_(store),
      options_(named(std::move(options), type.info)),
      transform_(std::move(transform)),
      clock_(orReal(options_.clock)),
      log_(options_.name.empty() ? Logger("reflector")
                                 : Logger("reflector").with("resource", options_.name)),
      pauses_(options_, clock_),
      canStreamList_(options_.streamList) {
  if (!source_.complete()) throw Error("reflector: list and watch must both be given");
}

String ReflectorLoop::lastSyncResourceVersion() const {
  const Lock lock(reportedMutex_);
  return lastVersion_;
}

void ReflectorLoop::setLastVersion(String version) {
  const Lock lock(reportedMutex_);
  lastVersion_ = std::move(version);
}

ReflectorStats ReflectorLoop::stats() const {
  ReflectorStats stats{.lists = lists_,
                       .watches = watches_,
                       .events = events_,
                       .errors = errors_,
                       .transformFailures = transformFailures_,
                       .sharedBytes = pool_.sharedBytes()};
  const Lock lock(reportedMutex_);
  stats.lastError = lastError_;
  return stats;
}

void ReflectorLoop::report(const std::exception& error) {
  ++errors_;
  {
    const Lock lock(reportedMutex_);
    lastError_ = error.what();
  }
  guarded(log_, "the handler of watch errors", [&] {
    if (options_.onError) {
      options_.onError(error);
    } else if (isTransport(error) && !isDue(unreachedLoggedAt_, clock_.now())) {
      log_.debug("{}", error.what());  // unchanged, and tried about once a second
    } else {
      logWatchError(log_, error);
    }
  });
}

void ReflectorLoop::run(const std::stop_token& stop) {
  std::optional<PeriodicTask> resync;
  if (options_.resync > Clock::Duration::zero()) {
    resync.emplace(clock_, options_.resync, [this] { resyncIfDue(); });
  }
  while (attempt(stop)) {
  }
}

// Returns whether to try again.
bool ReflectorLoop::attempt(const std::stop_token& stop) {
  if (stop.stop_requested()) return false;
  try {
    listAndWatch(stop);
    return pauses_.afterFailure(stop);
  } catch (const std::exception& error) {
    if (stop.stop_requested()) return false;
    report(error);
    return pauses_.afterFailure(error, stop);
  } catch (...) {
    report(Error("something that is no std::exception was thrown while listing or watching"));
    return pauses_.afterFailure(stop);
  }
}

void ReflectorLoop::resyncIfDue() {
  if (lastSyncResourceVersion().empty()) return;
  if (!options_.shouldResync || options_.shouldResync()) store_.resync();
}

void ReflectorLoop::listAndWatch(const std::stop_token& stop) {
  const Finally close([this] {
    source_.closeWatch();
    forgetCollected();
  });
  checkHistory(stop);
  const bool open = canStreamList_ && streamList(stop);
  if (stop.stop_requested()) return;
  if (!open) list(stop);
  log_.debug("has all objects as of version {}", lastSyncResourceVersion());
  watch(stop, open);
}

// The version for the next list: not older than the last one seen. For the first list, any version
// that the server has in memory.
String ReflectorLoop::relistVersion() const {
  if (versionUnavailable_) return {};
  const String last = lastSyncResourceVersion();
  return last.empty() ? String("0") : last;
}

void ReflectorLoop::list(const std::stop_token& stop) {
  metav1::ListOptions options{.resourceVersion = relistVersion()};
  const bool first = options.resourceVersion == "0";
  metav1::ListMeta meta;
  try {
    meta = collectPages(options, stop);
  } catch (const ApiError& error) {
    if (versionUnavailable_ || (!isExpired(error) && !isTooLargeVersion(error))) throw;
    // List the latest version instead.
    versionUnavailable_ = true;
    options.resourceVersion = {};
    meta = collectPages(options, stop);
  }
  // The first list came in pages, so the server does not keep this resource in memory.
  if (first && inPages_) pagedResult_ = true;
  versionUnavailable_ = false;
  ++lists_;
  replaceWithCollected(meta.resourceVersion);
  setLastVersion(meta.resourceVersion);
}

// Reads all pages. Returns the metadata of the last one.
metav1::ListMeta ReflectorLoop::collectPages(metav1::ListOptions options,
                                             const std::stop_token& stop) {
  const String version = options.resourceVersion;
  // Servers answer a list at a given version from memory only if it is not paged.
  const bool fromMemory = !version.empty() && version != "0";
  options.limit = options_.pageSize != 0        ? options_.pageSize
                  : fromMemory && !pagedResult_ ? 0
                                                : kDefaultPageSize;
  // With a limit and no match rule, the server would list exactly that version. A restarted server,
  // which refuses a watch from that version as too old, would then do so for ever.
  if (fromMemory && options.limit != 0) options.resourceVersionMatch = "NotOlderThan";
  forgetCollected();
  inPages_ = false;
  for (;;) {
    metav1::ListMeta meta;
    try {
      meta = source_.list(
          options, [this](std::shared_ptr<void> object) { collect(std::move(object)); }, stop,
          pool_);
    } catch (const ApiError& error) {
      if (!isResourceExpired(error) || options.continue_.empty()) throw;
      // The pages took longer than the server keeps their version: list all objects at once.
      forgetCollected();
      options.limit = 0;
      options.continue_ = {};
      options.resourceVersion = version;
      options.resourceVersionMatch = {};
      continue;
    }
    if (meta.continue_.empty()) return meta;
    detail::checkNextPage(options.continue_, meta.continue_);
    inPages_ = true;
    options.continue_ = meta.continue_;
    options.resourceVersion = options.resourceVersionMatch = {};  // the token has the version
  }
}

metav1::ListOptions ReflectorLoop::watchOptions() const {
  const auto least = std::max(options_.minWatchTimeout, kLeastWatchTimeout);
  const double seconds = static_cast<double>(least.count()) * (1 + randomUnit());
  return {.allowWatchBookmarks = true, .timeoutSeconds = static_cast<std::int64_t>(seconds)};
}

// Reads all objects from the start of a watch, and leaves the watch open. Returns false if an
// ordinary list is needed.
bool ReflectorLoop::streamList(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    forgetCollected();
    metav1::ListOptions options = watchOptions();
    options.resourceVersion = versionUnavailable_ ? String() : lastSyncResourceVersion();
    options.resourceVersionMatch = "NotOlderThan";
    options.sendInitialEvents = true;
    try {
      source_.openWatch(options, stop, pool_);
      const String version = collectInitialEvents(stop);
      if (stop.stop_requested()) return false;
      versionUnavailable_ = false;
      ++lists_;
      ++watches_;
      replaceWithCollected(version);
      setLastVersion(version);
      return true;
    } catch (const Error& error) {
      source_.closeWatch();
      if (stop.stop_requested()) return false;
      if (canTryAgain(error)) {
        report(error);
        if (!pauses_.afterFailure(error, stop)) return false;
        continue;
      }
      if ((isExpired(error) || isTooLargeVersion(error)) && !versionUnavailable_) {
        versionUnavailable_ = true;
        continue;
      }
      if (isRefusal(error)) canStreamList_ = false;
      log_.debug("no streamed list, using an ordinary one: {}", error.what());
      return false;
    }
  }
  return false;
}

// Returns the version of the objects.
String ReflectorLoop::collectInitialEvents(const std::stop_token& stop) {
  for (SourceEvent event; source_.next(event);) {
    if (event.type == EventType::Error) throw ApiError(std::move(event.status), "watch");
    if (event.type != EventType::Bookmark) {
      collect(std::move(event));
    } else if (type_.annotationOf(event.object.get(), "k8s.io/initial-events-end") == "true") {
      return type_.resourceVersionOf(event.object.get());
    }
  }
  if (stop.stop_requested()) return {};
  throw Error("watch: ended before all objects had come");
}

void ReflectorLoop::watch(const std::stop_token& stop, bool open) {
  int broken = 0;  // watches in a row that broke before any event
  for (; !stop.stop_requested(); open = false) {
    const Clock::TimePoint start = clock_.now();
    bool fromVersion = true;
    std::size_t events = 0;
    try {
      if (!open) {
        metav1::ListOptions options = watchOptions();
        options.resourceVersion = lastSyncResourceVersion();
        // Otherwise the watch starts with all objects, not in the order of their versions.
        fromVersion = !options.resourceVersion.empty() && options.resourceVersion != "0";
        source_.openWatch(options, stop, pool_);
        open = true;
        ++watches_;
        // Checked only now, because a retry of the request may have reached another server.
        checkHistory(stop);
        if (versionUnavailable_) {
          throw Error(
              fmt::format("watch: the server has not reached version {}: it may have been restored "
                          "from a backup",
                          lastSyncResourceVersion()));
        }
      }
      passEvents(stop, fromVersion, events);
    } catch (const Error& error) {
      source_.closeWatch();
      if (stop.stop_requested()) return;
      const bool worked = open && (events != 0 || clock_.now() - start >= kShortWatch);
      // A timeout that was set for all requests: treated as if the server had ended the watch.
      const bool ended = worked && error.kind() == ErrorKind::Timeout;
      if (isExpired(error)) noteExpired();
      if (!canWatchOn(error) && !ended) {
        if (worked) pauses_.noteWatchThatWorked(clock_.now() - start);
        throw;
      }
      if (!ended) report(error);
      if (worked && (ended || isTransport(error))) {
        broken = 0;
        if (!pauses_.afterWatchThatWorked(clock_.now() - start, stop)) return;
        continue;
      }
      if (open && isTransport(error) && ++broken >= kBrokenWatches) {
        throw Error(fmt::format("watch: broke {} times before any event, the last time: {}", broken,
                                error.what()));
      }
      if (!pauses_.afterFailure(error, stop)) return;
      continue;
    }
    source_.closeWatch();
    if (stop.stop_requested()) return;
    const Clock::Duration lasted = clock_.now() - start;
    // Servers that always end watches at once must not be asked in a tight loop.
    if (events == 0 && lasted < kShortWatch) {
      throw Error("watch: ended within a second, without an event");
    }
    broken = 0;
    if (!pauses_.afterWatchThatWorked(lasted, stop)) return;
  }
}

// The next list returns a version that is not older, so that it can be watched from. If it is not
// newer either (servers before 1.19 answer so in pages), the list after it asks for the latest
// version.
void ReflectorLoop::noteExpired() {
  const String last = lastSyncResourceVersion();
  if (expired_ == last) versionUnavailable_ = true;
  expired_ = last;
}

// Passes events to the store until the watch ends.
void ReflectorLoop::passEvents(const std::stop_token& stop, bool fromVersion, std::size_t& events) {
  for (SourceEvent event; source_.next(event);) {
    if (stop.stop_requested()) return;
    ++events;
    if (event.type != EventType::Bookmark) ++events_;
    if (event.type == EventType::Error) throw ApiError(std::move(event.status), "watch");
    // The first events may be the current state, not in the order of versions. Anything but Added
    // ends it.
    fromVersion = fromVersion || event.type != EventType::Added;
    String version =
        type_.resourceVersionOf(event.object.get());  // before a transform may remove it
    apply(std::move(event));
    if (fromVersion && !version.empty()) setLastVersion(std::move(version));
  }
}

// Returns false if the transform threw; the object must not be used then.
bool ReflectorLoop::transform(void* object) {
  if (!transform_) return true;
  const ObjectKey key = type_.keyOf(object);  // before a transform may change it
  std::string what = "something that is no std::exception";
  try {
    transform_(object);
    return true;
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  const std::uint64_t failures = ++transformFailures_;
  if (isDue(transformLoggedAt_, clock_.now())) {
    log_.error({{"object", key.str()}, {"failures", failures}},
               "the transform has thrown, so the cache keeps the object as it was: {}", what);
  }
  return false;
}

// Adds an object to the list under way. If the transform throws, the list keeps the known object:
// if it looked deleted, handlers would clean up after it.
void ReflectorLoop::collect(std::shared_ptr<void> object) {
  if (!transform_) return listed_.push_back(std::move(object));
  const ObjectKey key = type_.keyOf(object.get());
  if (transform(object.get())) return listed_.push_back(std::move(object));
  if (auto held = store_.held(key)) listed_.push_back(std::move(held));
}

// Applies an event to the list under way.
void ReflectorLoop::collect(SourceEvent event) {
  if (!streamed_) streamed_.emplace(type_);
  if (event.type == EventType::Deleted) {
    streamed_->remove(type_.keyViewOf(event.object.get()));
    return;
  }
  const ObjectKey key = type_.keyOf(event.object.get());
  if (transform(event.object.get())) {
    streamed_->put(std::move(event.object));
  } else if (!streamed_->contains({key.namespace_, key.name})) {
    if (auto held = store_.held(key)) streamed_->put(std::move(held));
  }
}

// Passes an event on to the store.
void ReflectorLoop::apply(SourceEvent event) {
  if (event.type == EventType::Error) return;
  if (event.type == EventType::Bookmark) {
    return store_.bookmark(type_.resourceVersionOf(event.object.get()));
  }
  const ObjectKey key = type_.keyOf(event.object.get());
  std::shared_ptr<const void> object;
  if (transform(event.object.get())) {
    object = std::move(event.object);
  } else if (event.type == EventType::Deleted) {
    object = store_.held(key);  // the object is deleted all the same
  }
  if (object == nullptr) return;
  switch (event.type) {
    case EventType::Added:
      return store_.add(std::move(object));
    case EventType::Modified:
      return store_.update(std::move(object));
    default:
      return store_.remove(std::move(object));
  }
}

void ReflectorLoop::forgetCollected() {
  listed_ = {};
  streamed_.reset();
}

// Makes the collected objects the contents of the store.
void ReflectorLoop::replaceWithCollected(const String& resourceVersion) {
  if (streamed_) listed_ = streamed_->list<void>({});
  streamed_.reset();
  store_.replace(std::exchange(listed_, {}), resourceVersion);
}

// A server that was restored from a backup starts below the versions that are known here. It
// accepts a watch from a version that it has not reached, but sends nothing until it has.
void ReflectorLoop::checkHistory(const std::stop_token& stop) {
  const String last = lastSyncResourceVersion();
  if (last.empty() || versionUnavailable_) return;
  versionUnavailable_ = !source_.hasReached(last, stop);
}

}  // namespace detail

}  // namespace kube
