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
  store_.reached(version);
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

Task<void> ReflectorLoop::run() {
  std::optional<PeriodicTask> resync;
  if (options_.resync > Clock::Duration::zero()) {
    resync.emplace(clock_, options_.resync, [this] { resyncIfDue(); });
  }
  const std::stop_token stop = co_await taskStop();
  for (bool again = true; again && !stop.stop_requested();) {
    std::optional<Pause> pause;
    try {
      co_await listAndWatch();
      pause = pauses_.afterFailure();
    } catch (const std::exception& error) {
      if (stop.stop_requested()) break;
      report(error);
      pause = pauses_.afterFailure(error);
    } catch (...) {
      report(Error("an exception that is not a std::exception, while listing or watching"));
      pause = pauses_.afterFailure();
    }
    again = co_await pause->wait(clock_);
  }
}

void ReflectorLoop::resyncIfDue() {
  if (lastSyncResourceVersion().empty()) return;
  if (!options_.shouldResync || options_.shouldResync()) store_.resync();
}

Task<void> ReflectorLoop::listAndWatch() {
  const Finally close([this] {
    source_.closeWatch();
    forgetCollected();
  });
  const std::stop_token stop = co_await taskStop();
  co_await checkHistory();
  bool open = false;
  if (canStreamList_) open = co_await streamList();
  if (stop.stop_requested()) co_return;
  if (!open) co_await list();
  log_.debug("has all objects as of version {}", lastSyncResourceVersion());
  co_await watch(open);
}

// The version for the next list: not older than the last one seen. For the first list, any version
// that the server has in memory.
String ReflectorLoop::relistVersion() const {
  if (versionUnavailable_) return {};
  const String last = lastSyncResourceVersion();
  return last.empty() ? String("0") : last;
}

Task<void> ReflectorLoop::list() {
  metav1::ListOptions options{.resourceVersion = relistVersion()};
  const bool first = options.resourceVersion == "0";
  metav1::ListMeta meta;
  for (bool listed = false; !listed;) {
    try {
      meta = co_await collectPages(options);
      listed = true;
    } catch (const ApiError& error) {
      if (versionUnavailable_ || (!isExpired(error) && !isTooLargeVersion(error))) throw;
      // List the latest version instead.
      versionUnavailable_ = true;
      options.resourceVersion = {};
    }
  }
  // The first list came in pages, so the server does not keep this resource in memory.
  if (first && inPages_) pagedResult_ = true;
  versionUnavailable_ = false;
  ++lists_;
  replaceWithCollected(meta.resourceVersion);
  setLastVersion(meta.resourceVersion);
}

// Reads all pages. Returns the metadata of the last one.
Task<metav1::ListMeta> ReflectorLoop::collectPages(metav1::ListOptions options) {
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
  const ObjectSource::Use use = [this](std::shared_ptr<void> object) {
    collect(std::move(object));
  };
  for (;;) {
    metav1::ListMeta meta;
    try {
      meta = co_await source_.list(options, use, pool_);
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
    if (meta.continue_.empty()) co_return meta;
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
Task<bool> ReflectorLoop::streamList() {
  const std::stop_token stop = co_await taskStop();
  while (!stop.stop_requested()) {
    Listed listed = Listed::Yes;
    std::optional<Pause> pause;
    try {
      co_await streamOnce();
    } catch (const Error& error) {
      source_.closeWatch();
      if (stop.stop_requested()) co_return false;
      listed = judgeStream(error, pause);
    }
    if (stop.stop_requested()) co_return false;
    if (listed != Listed::Again) co_return listed == Listed::Yes;
    if (!pause) continue;
    const bool again = co_await pause->wait(clock_);
    if (!again) co_return false;
  }
  co_return false;
}

Task<void> ReflectorLoop::streamOnce() {
  forgetCollected();
  metav1::ListOptions options = watchOptions();
  options.resourceVersion = versionUnavailable_ ? String() : lastSyncResourceVersion();
  options.resourceVersionMatch = "NotOlderThan";
  options.sendInitialEvents = true;
  co_await source_.openWatch(options, pool_);
  const String version = co_await collectInitialEvents();
  const std::stop_token stop = co_await taskStop();
  if (stop.stop_requested()) co_return;
  versionUnavailable_ = false;
  ++lists_;
  ++watches_;
  replaceWithCollected(version);
  setLastVersion(version);
}

// After a streamed list that failed.
ReflectorLoop::Listed ReflectorLoop::judgeStream(const Error& error, std::optional<Pause>& pause) {
  if (canTryAgain(error)) {
    report(error);
    pause = pauses_.afterFailure(error);
    return Listed::Again;
  }
  if ((isExpired(error) || isTooLargeVersion(error)) && !versionUnavailable_) {
    versionUnavailable_ = true;
    return Listed::Again;
  }
  if (isRefusal(error)) canStreamList_ = false;
  log_.debug("no streamed list, using an ordinary one: {}", error.what());
  return Listed::InPages;
}

// Returns the version of the objects.
Task<String> ReflectorLoop::collectInitialEvents() {
  bool more = true;
  while (more) {
    for (SourceEvent event; source_.take(event);) {
      if (event.type == EventType::Error) throw ApiError(std::move(event.status), "watch");
      if (event.type != EventType::Bookmark) {
        collect(std::move(event));
      } else if (type_.annotationOf(event.object.get(), "k8s.io/initial-events-end") == "true") {
        co_return type_.resourceVersionOf(event.object.get());
      }
    }
    more = co_await source_.wait();
  }
  const std::stop_token stop = co_await taskStop();
  if (stop.stop_requested()) co_return String();
  throw Error("watch: ended before all objects had come");
}

Task<void> ReflectorLoop::watch(bool open) {
  const std::stop_token stop = co_await taskStop();
  Watched watched{.start = {}, .open = open};
  while (!stop.stop_requested()) {
    watched.start = clock_.now();
    watched.fromVersion = true;
    watched.events = 0;
    std::optional<Pause> pause;
    try {
      co_await watchOnce(watched);
    } catch (const Error& error) {
      source_.closeWatch();
      if (stop.stop_requested()) co_return;
      pause = judgeWatch(error, watched);
    }
    if (!pause) {
      source_.closeWatch();
      if (stop.stop_requested()) co_return;
      pause = judgeEnd(watched);
    }
    const bool again = co_await pause->wait(clock_);
    if (!again) co_return;
    watched.open = false;
  }
}

// Watches until the server ends the watch, or a stop is requested.
Task<void> ReflectorLoop::watchOnce(Watched& watched) {
  const std::stop_token stop = co_await taskStop();
  if (!watched.open) {
    metav1::ListOptions options = watchOptions();
    options.resourceVersion = lastSyncResourceVersion();
    // Otherwise the watch starts with all objects, not in the order of their versions.
    watched.fromVersion = !options.resourceVersion.empty() && options.resourceVersion != "0";
    co_await source_.openWatch(options, pool_);
    watched.open = true;
    ++watches_;
    // Checked only now, because a retry of the request may have reached another server.
    co_await checkHistory();
    if (versionUnavailable_) {
      throw Error(
          fmt::format("watch: the server has not reached version {}: it may have been restored "
                      "from a backup",
                      lastSyncResourceVersion()));
    }
  }
  bool more = true;
  while (more) {
    for (SourceEvent event; source_.take(event);) {
      if (stop.stop_requested()) co_return;
      pass(std::move(event), watched);
    }
    more = co_await source_.wait();
  }
}

// After a watch that failed: returns the pause before the next watch, or throws the error again if
// a list has to come first.
ReflectorLoop::Pause ReflectorLoop::judgeWatch(const Error& error, Watched& watched) {
  const Clock::Duration lasted = clock_.now() - watched.start;
  const bool worked = watched.open && (watched.events != 0 || lasted >= kShortWatch);
  // A timeout that was set for all requests: treated as if the server had ended the watch.
  const bool ended = worked && error.kind() == ErrorKind::Timeout;
  if (isExpired(error)) noteExpired();
  if (!canWatchOn(error) && !ended) {
    if (worked) pauses_.noteWatchThatWorked(lasted);
    throw;
  }
  if (!ended) report(error);
  if (worked && (ended || isTransport(error))) {
    watched.broken = 0;
    return pauses_.afterWatchThatWorked(lasted);
  }
  if (watched.open && isTransport(error) && ++watched.broken >= kBrokenWatches) {
    throw Error(fmt::format("watch: broke {} times before any event, the last time: {}",
                            watched.broken, error.what()));
  }
  return pauses_.afterFailure(error);
}

// After a watch that the server has ended.
ReflectorLoop::Pause ReflectorLoop::judgeEnd(Watched& watched) {
  const Clock::Duration lasted = clock_.now() - watched.start;
  // Servers that always end watches at once must not be asked in a tight loop.
  if (watched.events == 0 && lasted < kShortWatch) {
    throw Error("watch: ended within a second, without an event");
  }
  watched.broken = 0;
  return pauses_.afterWatchThatWorked(lasted);
}

// The next list returns a version that is not older, so that it can be watched from. If it is not
// newer either (servers before 1.19 answer so in pages), the list after it asks for the latest
// version.
void ReflectorLoop::noteExpired() {
  const String last = lastSyncResourceVersion();
  if (expired_ == last) versionUnavailable_ = true;
  expired_ = last;
}

// Passes an event of a watch to the store.
void ReflectorLoop::pass(SourceEvent event, Watched& watched) {
  ++watched.events;
  if (event.type != EventType::Bookmark) ++events_;
  if (event.type == EventType::Error) throw ApiError(std::move(event.status), "watch");
  // The first events may be the current state, not in the order of versions. Anything but Added
  // ends it.
  watched.fromVersion = watched.fromVersion || event.type != EventType::Added;
  String version = type_.resourceVersionOf(event.object.get());  // before a transform may remove it
  apply(std::move(event));
  if (watched.fromVersion && !version.empty()) setLastVersion(std::move(version));
}

// Returns false if the transform threw; the object must not be used then.
bool ReflectorLoop::transform(void* object) {
  if (!transform_) return true;
  const ObjectKey key = type_.keyOf(object);  // before a transform may change it
  std::string what = "an exception that is not a std::exception";
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
Task<void> ReflectorLoop::checkHistory() {
  const String last = lastSyncResourceVersion();
  if (last.empty() || versionUnavailable_) co_return;
  const bool reached = co_await source_.hasReached(last);
  versionUnavailable_ = !reached;
}

}  // namespace detail

}  // namespace kube
