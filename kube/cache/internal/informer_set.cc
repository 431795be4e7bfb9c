#include "kube/cache/internal/informer_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/join_later.h"
#include "kube/base/internal/slow_wait.h"
#include "kube/base/log.h"
#include "kube/cache/internal/handlers.h"

namespace kube::detail {

// Stops an informer, and tells when it has ended: its last handler has returned.
class InformerSet::Ending {
 public:
  explicit Ending(const std::stop_token& all) : stop_(all, {}) {}

  std::stop_token token() const { return stop_.token(); }
  void requestStop() noexcept { stop_.requestStop(); }
  /// Takes the thread of an informer that has one.
  void own(std::thread thread) {
    const Lock lock(endedMutex_);
    thread_ = std::move(thread);
  }
  void end() {
    const Lock lock(endedMutex_);
    ended_ = true;
    changed_.notify_all();
  }
  void join() {
    {
      Lock lock(endedMutex_);
      changed_.wait(lock, [this]() KUBE_REQUIRES(endedMutex_) { return ended_; });
    }
    if (std::thread thread = take(); thread.joinable()) thread.join();
  }
  void joinLater() {
    if (std::thread thread = take(); thread.joinable()) kube::joinLater(std::move(thread));
  }

 private:
  std::thread take() {
    const Lock lock(endedMutex_);
    return std::move(thread_);
  }

  LinkedStop stop_;
  Mutex endedMutex_;
  std::condition_variable changed_;
  bool ended_ KUBE_GUARDED_BY(endedMutex_) = false;
  std::thread thread_ KUBE_GUARDED_BY(endedMutex_);
};

// ---- Informers that come and go.

InformerSet::Entry* InformerSet::find(const InformerName& name) {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    if (entry.removed || entry.kind != name.kind) return false;
    return name.selection ? !entry.ofOwnSource && entry.selection == *name.selection
                          : entry.byDefault;
  });
  return found != entries_.end() ? &*found : nullptr;
}

InformerSet::Core InformerSet::found(const InformerName& name) {
  const Lock lock(entriesMutex_);
  const Entry* const entry = find(name);
  return entry != nullptr ? entry->informer : nullptr;
}

InformerSet::Covering InformerSet::covering(std::string_view kind,
                                            std::string_view namespaceName) const {
  Covering result;
  const Lock lock(entriesMutex_);
  for (const Entry& entry : entries_) {
    if (entry.removed || entry.kind != kind) continue;
    if (result.any == nullptr) result.any = entry.informer;
    if (!entry.informer->covers(namespaceName)) continue;
    result.informer = entry.informer;
    break;
  }
  return result;
}

InformerSet::Core InformerSet::obtain(const InformerName& name, bool counted, const Make& make) {
  const Lock lock(entriesMutex_);
  Entry* entry = find(name);
  if (entry == nullptr) {
    Made made = make(namespaces_);
    if (!made.ofOwnSource) entry = find({name.kind, made.selection});
    if (entry == nullptr) {
      made.informer->belongToFactory(made.selection);
      entry = &entries_.emplace_back(Entry{.kind = name.kind,
                                           .selection = std::move(made.selection),
                                           .informer = std::move(made.informer),
                                           .ofFactorysNamespaces = made.ofFactorysNamespaces,
                                           .ofOwnSource = made.ofOwnSource});
    }
    if (!name.selection) entry->byDefault = true;
  }
  if (counted) {
    ++entry->users;
  } else {
    entry->kept = true;
  }
  return entry->informer;
}

void InformerSet::release(const Core& informer) {
  {
    const Lock lock(entriesMutex_);
    for (Entry& entry : entries_) {
      if (entry.informer == informer) --entry.users;
    }
  }
  endOne(informer, true);
}

void InformerSet::remove(const Core& informer) { endOne(informer, false); }

void InformerSet::endOne(const Core& informer, bool ifUnused) {
  std::shared_ptr<Ending> ending;
  {
    const Lock lock(entriesMutex_);
    const auto entry = std::ranges::find(entries_, informer, &Entry::informer);
    if (entry == entries_.end()) return;
    if (ifUnused && (entry->kept || entry->users > 0)) return;
    ending = entry->ending;
    entry->removed = true;
    if (ending == nullptr) {
      informer->retire();
      entries_.erase(entry);
      return;
    }
  }
  ending->requestStop();
  // A handler must not wait for itself, nor a quick one for those that share its thread.
  if (informer->isWithin() || (informer->shares() && !mayBlock())) return ending->joinLater();
  ending->join();
  forget(ending.get());
}

// Drops an informer that was removed and has ended.
void InformerSet::forget(const Ending* ending) {
  std::vector<Entry> dropped;  // destroyed without the lock
  const Lock lock(entriesMutex_);
  const auto entry = std::ranges::find_if(
      entries_, [&](const Entry& one) { return one.removed && one.ending.get() == ending; });
  if (entry == entries_.end()) return;
  dropped.push_back(std::move(*entry));
  entries_.erase(entry);
}

// ---- Namespaces.

namespace {

void checkNamespaces(const std::optional<Strings>& namespaces, const char* what) {
  if (namespaces) return;
  throw Error(
      fmt::format("informer factory: {}: it was made without namespaces: set "
                  "InformerFactoryOptions::namespaces",
                  what));
}

}  // namespace

void InformerSet::addNamespace(const String& name) {
  if (name.empty()) throw Error("informer factory: a namespace to be added has no name");
  const Lock lock(entriesMutex_);
  checkNamespaces(namespaces_, "a namespace cannot be added");
  if (std::ranges::find(*namespaces_, name) == namespaces_->end()) namespaces_->push_back(name);
  for (const Entry& entry : entries_) {
    if (entry.ofFactorysNamespaces) entry.informer->offerNamespace(name);
  }
}

void InformerSet::removeNamespace(const String& name) {
  const Lock lock(entriesMutex_);
  checkNamespaces(namespaces_, "a namespace cannot be removed");
  Strings left;
  for (const String& one : *namespaces_) {
    if (one != name) left.push_back(one);
  }
  namespaces_ = std::move(left);
  for (const Entry& entry : entries_) {
    if (entry.ofFactorysNamespaces) entry.informer->removeNamespace(name.view());
  }
}

std::optional<Strings> InformerSet::namespaces() const {
  const Lock lock(entriesMutex_);
  return namespaces_;
}

// ---- Running.

void InformerSet::start(const std::stop_token& stop) {
  const Lock lock(entriesMutex_);
  if (stop_.stop_requested()) return;
  running_ = true;
  bool any = false;
  std::exception_ptr failure;
  for (Entry& entry : entries_) {
    if (!entry.informer->willRun()) continue;
    const auto ending = std::make_shared<Ending>(stop_.get_token());
    try {
      ending->own(
          InformerCore::start(entry.informer, ending->token(), [ending, weak = weak_from_this()] {
            ending->end();
            if (const auto self = weak.lock()) {
              self->forget(ending.get());
            }
          }));
    } catch (...) {
      entry.informer->willNotRun();
      failure = std::current_exception();
      break;
    }
    entry.ending = ending;
    any = true;
  }
  // Every token that was given to start() stops all informers.
  if (any && stop.stop_possible()) {
    stops_.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(
        stop, [own = stop_]() mutable { own.request_stop(); }));
  }
  if (failure) std::rethrow_exception(failure);
}

bool InformerSet::isRunning() const {
  const Lock lock(entriesMutex_);
  return running_ && !stop_.stop_requested();
}

std::vector<InformerSet::Core> InformerSet::informers() const {
  std::vector<Core> informers;
  const Lock lock(entriesMutex_);
  for (const Entry& entry : entries_) informers.push_back(entry.informer);
  return informers;
}

Task<bool> InformerSet::waitForSync(std::shared_ptr<InformerSet> self, Clock& clock) {
  const TaskContext& context = co_await CurrentContext();
  const std::stop_token stop = self->stop_.get_token();
  if (stop.stop_requested() || context.stop.stop_requested()) co_return false;
  const std::vector<Core> informers = self->informers();
  for (const Core& informer : informers) {
    if (informer->hasStarted()) continue;
    throw Error(
        fmt::format("informer factory: waitForSync: the informer of {} does not run: "
                    "call start(); again, if the informer was requested after start()",
                    informer->name()));
  }
  const SlowWait slow(clock, [&self](Clock::Duration waited) {
    for (const std::string& missing : self->notSynced()) {
      Logger("informer").warning("has waited {} for {}", inSeconds(waited), missing);
    }
  });
  for (const Core& informer : informers) {
    const bool synced = co_await withStop(informer->handlers()->waitForFirstList(), stop);
    if (synced) continue;
    if (stop.stop_requested() || context.stop.stop_requested()) co_return false;
    // An informer that is removed meanwhile is not waited for.
    if (!informer->isStopped()) co_return false;
  }
  co_return true;
}

std::vector<std::string> InformerSet::notSynced() const {
  std::vector<std::string> missing;
  for (const Core& informer : informers()) {
    if (informer->hasStarted() && (informer->hasSynced() || informer->isStopped())) continue;
    missing.push_back(informer->describeSync());
  }
  return missing;
}

void InformerSet::shutdown() {
  for (const Core& informer : informers()) {
    if (!informer->isWithin()) continue;
    throw Error(fmt::format(
        "informer factory: shutdown(): called by a handler of {}, it would wait for that "
        "handler for ever: request a stop by the token given to start(), and shut "
        "down on another thread",
        informer->name()));
  }
  end();
}

void InformerSet::end() {
  stop_.request_stop();
  std::vector<std::shared_ptr<Ending>> endings;
  decltype(stops_) stops;  // destroyed without the lock, because that waits for callbacks under way
  {
    const Lock lock(entriesMutex_);
    ++ending_;
    stops.swap(stops_);
    // A quick handler keeps the thread of all informers, also of those that have not begun yet.
    const bool onTheirThread =
        std::ranges::any_of(entries_, [](const Entry& one) { return one.informer->isRunner(); });
    for (Entry& entry : entries_) {
      if (entry.ending == nullptr) continue;
      // An informer whose handler destroys the factory ends on its own, when the handler has
      // returned.
      if (entry.informer->isWithin() || (onTheirThread && entry.informer->shares())) {
        Logger("informer").debug("a handler of {} destroys the factory", entry.informer->name());
        entry.ending->joinLater();
      } else {
        endings.push_back(entry.ending);
      }
    }
  }
  for (const auto& ending : endings) ending->join();
  Lock lock(entriesMutex_);
  --ending_;
  ended_.notify_all();
  ended_.wait(lock, [&]() KUBE_REQUIRES(entriesMutex_) { return ending_ == 0; });
}

std::string InformerSet::describe() const {
  std::string text;
  for (const Core& informer : informers()) text += informer->describe() + "\n";
  return text;
}

}  // namespace kube::detail
