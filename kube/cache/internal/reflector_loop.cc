#include "kube/cache/internal/reflector_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kube/base/internal/finally.h"
#include "kube/base/internal/periodic_task.h"
#include "kube/client/list_pages.h"
#include "kube/meta/api_error.h"

namespace kube {

namespace {

constexpr std::int64_t kDefaultPageSize = 500;
constexpr auto kLeastWatchTimeout = std::chrono::seconds(300);

// 410: before 1.18, servers gave either reason.
bool isExpired(const std::exception& error) { return isResourceExpired(error) || isGone(error); }

// As many watches that break before they have brought anything are no accident.
constexpr int kBrokenWatches = 3;
// One of many errors of the same kind is logged in this time.
constexpr auto kQuietTime = std::chrono::seconds(30);

bool isTransport(const std::exception& error) {
  return dynamic_cast<const TransportError*>(&error) != nullptr;
}

// Whether the server was not reached, or does not mean this request.
bool canTryAgain(const std::exception& error) {
  if (isTooManyRequests(error)) return true;
  const auto* transport = dynamic_cast<const TransportError*>(&error);
  return transport != nullptr && !transport->requestSent();
}

// Whether watching on from the same version is likely to work later. Otherwise one had better list.
bool canWatchOn(const std::exception& error) {
  return isTooManyRequests(error) || isUnauthorized(error) || isTransport(error);
}

// Whether a time is over since something was said; if so, it is said now.
bool isDue(std::optional<Clock::TimePoint>& said, Clock::TimePoint now) {
  if (said && now - *said < kQuietTime) return false;
  said = now;
  return true;
}

// That the server does not know the request for a streamed list.
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
  try {
    if (options_.onError) {
      options_.onError(error);
    } else if (isTransport(error) && !isDue(unreachedLoggedAt_, clock_.now())) {
      log_.debug("{}", error.what());  // as it was, which is tried about once a second
    } else {
      logWatchError(log_, error);
    }
  } catch (const std::exception& thrown) {
    log_.error("the handler of watch errors has thrown: {}", thrown.what());
  } catch (...) {
    log_.error("the handler of watch errors has thrown");
  }
}

void ReflectorLoop::run(const std::stop_token& stop) {
  std::optional<PeriodicTask> resync;
  if (options_.resync > Clock::Duration::zero()) {
    resync.emplace(clock_, options_.resync, [this] { resyncIfDue(); });
  }
  while (attempt(stop)) {
  }
}

// Says whether to try again.
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
    report(Error("something that is no exception was thrown while listing or watching"));
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

// Not older than what was seen already. At first, whatever the server has in memory.
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
    // The latest there is, then.
    versionUnavailable_ = true;
    options.resourceVersion = {};
    meta = collectPages(options, stop);
  }
  // A first list in pages means that the server does not keep this resource in memory.
  if (first && inPages_) pagedResult_ = true;
  versionUnavailable_ = false;
  ++lists_;
  replaceWithCollected(meta.resourceVersion);
  setLastVersion(meta.resourceVersion);
}

// The metadata is the last page's.
metav1::ListMeta ReflectorLoop::collectPages(metav1::ListOptions options,
                                             const std::stop_token& stop) {
  const String version = options.resourceVersion;
  // A server answers a list at some version from memory only if it is not paged.
  const bool fromMemory = !version.empty() && version != "0";
  options.limit = options_.pageSize != 0        ? options_.pageSize
                  : fromMemory && !pagedResult_ ? 0
                                                : kDefaultPageSize;
  // With a limit and nothing said, it would be exactly that version, which nobody wants: where a
  // watch from it is refused as too old, as by a server that was started anew, for ever.
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
      // The pages took longer than the server keeps their version: all at once.
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
    options.resourceVersion = options.resourceVersionMatch = {};  // the token says which
  }
}

metav1::ListOptions ReflectorLoop::watchOptions() const {
  const auto least = std::max(options_.minWatchTimeout, kLeastWatchTimeout);
  const double seconds = static_cast<double>(least.count()) * (1 + randomUnit());
  return {.allowWatchBookmarks = true, .timeoutSeconds = static_cast<std::int64_t>(seconds)};
}

// Gets all objects from the beginning of a watch, and leaves that open. False: list, rather.
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
      log_.debug("no streamed list, so an ordinary one: {}", error.what());
      return false;
    }
  }
  return false;
}

// Returns the version that the objects are of.
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
  throw Error("watch: ended before all objects were there");
}

void ReflectorLoop::watch(const std::stop_token& stop, bool open) {
  int broken = 0;  // in a row, before anything came
  for (; !stop.stop_requested(); open = false) {
    const Clock::TimePoint start = clock_.now();
    bool fromVersion = true;
    std::size_t events = 0;
    try {
      if (!open) {
        metav1::ListOptions options = watchOptions();
        options.resourceVersion = lastSyncResourceVersion();
        // Otherwise it begins with all objects, in no order of versions.
        fromVersion = !options.resourceVersion.empty() && options.resourceVersion != "0";
        source_.openWatch(options, stop, pool_);
        open = true;
        ++watches_;
        // Only now, since the request may have been sent again, to a server that is another.
        checkHistory(stop);
        if (versionUnavailable_) {
          throw Error(
              fmt::format("watch: the server has not come to version {}, as after a restore",
                          lastSyncResourceVersion()));
        }
      }
      passEvents(stop, fromVersion, events);
    } catch (const Error& error) {
      source_.closeWatch();
      if (stop.stop_requested()) return;
      const bool worked = open && (events != 0 || clock_.now() - start >= kShortWatch);
      // A time that was set for all requests has passed: as if the server had ended it.
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
        throw Error(fmt::format("watch: broke {} times before anything came, the last time: {}",
                                broken, error.what()));
      }
      if (!pauses_.afterFailure(error, stop)) return;
      continue;
    }
    source_.closeWatch();
    if (stop.stop_requested()) return;
    const Clock::Duration lasted = clock_.now() - start;
    // A server that always ends watches at once must not be asked in a tight loop.
    if (events == 0 && lasted < kShortWatch) {
      throw Error("watch: ended within a second, without an event");
    }
    broken = 0;
    if (!pauses_.afterWatchThatWorked(lasted, stop)) return;
  }
}

// The next list is of a version that is not older, so that it can be watched from. Where it is not
// newer either, as a server before 1.19 answers in pages, the one after that is of the latest.
void ReflectorLoop::noteExpired() {
  const String last = lastSyncResourceVersion();
  if (expired_ == last) versionUnavailable_ = true;
  expired_ = last;
}

// Until the watch ends.
void ReflectorLoop::passEvents(const std::stop_token& stop, bool fromVersion, std::size_t& events) {
  for (SourceEvent event; source_.next(event);) {
    if (stop.stop_requested()) return;
    ++events;
    if (event.type != EventType::Bookmark) ++events_;
    if (event.type == EventType::Error) throw ApiError(std::move(event.status), "watch");
    // What comes first may be the present state, in no order; anything but Added ends that.
    fromVersion = fromVersion || event.type != EventType::Added;
    String version = type_.resourceVersionOf(event.object.get());  // which a transform may take out
    apply(std::move(event));
    if (fromVersion && !version.empty()) setLastVersion(std::move(version));
  }
}

// False: the transform has thrown, and what it leaves is not to be used.
bool ReflectorLoop::transform(void* object) {
  if (!transform_) return true;
  const ObjectKey key = type_.keyOf(object);  // which it may change
  std::string what = "something that is no exception";
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
               "the transform has thrown, and the object stays as it was in the cache: {}", what);
  }
  return false;
}

// Takes an object as one of a list. One that is refused stays what it is: who is told that it is
// gone would clean up after it.
void ReflectorLoop::collect(std::shared_ptr<void> object) {
  if (!transform_) return listed_.push_back(std::move(object));
  const ObjectKey key = type_.keyOf(object.get());
  if (transform(object.get())) return listed_.push_back(std::move(object));
  if (auto held = store_.held(key)) listed_.push_back(std::move(held));
}

// Takes an event as one of a list.
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
    object = store_.held(key);  // it is gone all the same
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

// A server that was restored from a backup begins again below the versions that are known here. It
// lets one watch from a version that it has not come to, and one misses all until it has.
void ReflectorLoop::checkHistory(const std::stop_token& stop) {
  const String last = lastSyncResourceVersion();
  if (last.empty() || versionUnavailable_) return;
  versionUnavailable_ = !source_.hasReached(last, stop);
}

}  // namespace detail

}  // namespace kube
