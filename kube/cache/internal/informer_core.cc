#include "kube/cache/internal/informer_core.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/periodic_task.h"
#include "kube/base/internal/slow_wait.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/log.h"
#include "kube/base/task.h"
#include "kube/cache/internal/handlers.h"
#include "kube/cache/internal/informer_metrics.h"
#include "kube/cache/store.h"

namespace kube::detail {

std::shared_ptr<InformerCore> makeInformer(std::unique_ptr<UntypedStore> store,
                                           std::unique_ptr<ObjectSource> source,
                                           SharedInformerOptions options,
                                           std::vector<UntypedStore::Index> indexes) {
  return std::make_shared<InformerCore>(std::move(store), std::move(source), std::move(options),
                                        std::move(indexes));
}

namespace {

SharedInformerOptions named(SharedInformerOptions options, const UntypedStore& store) {
  if (options.name.empty()) options.name = store.type().info.name;
  return options;
}

}  // namespace

InformerCore::InformerCore(std::unique_ptr<UntypedStore> store, NamespacedSources sources,
                           SharedInformerOptions options, std::vector<UntypedStore::Index> indexes)
    : options_(named(std::move(options), *store)),
      cache_(std::move(store), options_.name, options_.resync, orReal(options_.clock)),
      sources_(std::move(sources)) {
  const auto byNamespace = [](const auto& index) { return index.name == kNamespaceIndex; };
  if (std::ranges::none_of(indexes, byNamespace)) {
    indexes.push_back({String(kNamespaceIndex), namespaceValues(cache_.type())});
  }
  cache_.store()->addIndexes(std::move(indexes));
}

InformerCore::InformerCore(std::unique_ptr<UntypedStore> store,
                           std::unique_ptr<ObjectSource> source, SharedInformerOptions options,
                           std::vector<UntypedStore::Index> indexes)
    : InformerCore(std::move(store), NamespacedSources{source->executor(), {}}, std::move(options),
                   std::move(indexes)) {
  members_.push_back({std::make_shared<InformerPart>(cache_, std::move(source))});
}

InformerCore::InformerCore(std::unique_ptr<UntypedStore> store, NamespacedSources sources,
                           const Strings& namespaces, SharedInformerOptions options)
    : InformerCore(std::move(store), std::move(sources), std::move(options),
                   std::vector<UntypedStore::Index>()) {
  cache_.store()->versions().split();
  for (const String& name : namespaces) addNamespace(name);
}

InformerCore::~InformerCore() = default;

// Throws Error if the informer has passed the state `latest`.
void InformerCore::expect(State latest, const char* what) const {
  if (state_ <= latest) return;
  throw Error(fmt::format("informer of {}: {}: it {}", name(), what,
                          state_ == State::Stopped ? "has stopped" : "is running already"));
}

// ---- Setting up.

std::shared_ptr<HandlerQueue> InformerCore::addHandler(
    std::unique_ptr<const NotificationHandler> handler, const HandlerOptions& options) {
  auto queue = std::make_shared<HandlerQueue>(cache_.type(), name(), options, std::move(handler),
                                              handlers()->threads(), handlers()->clock());
  const Lock lock(stateMutex_);
  expect(State::Running, "a handler cannot be added");
  const Clock::Duration resync = options.resync.value_or(options_.resync);
  if (state_ < State::Running) {
    handlers()->add(queue, resync);
  } else {
    cache_.addRunning(queue, resync);
  }
  return queue;
}

void InformerCore::addIndexes(std::vector<UntypedStore::Index> indexes) {
  const Lock lock(stateMutex_);
  expect(State::Running, "an index cannot be added");
  store()->addIndexes(std::move(indexes));
}

void InformerCore::fill(std::vector<Object> objects) {
  const Lock lock(stateMutex_);
  expect(State::New, "it cannot be filled");
  store()->replace(std::move(objects), {});
}

void InformerCore::setTransform(UntypedTransform transform) {
  const Lock lock(stateMutex_);
  expect(State::New, "a transform cannot be set");
  transform_ = std::move(transform);
}

void InformerCore::setWatchErrorHandler(WatchErrorHandler handler) {
  const Lock lock(stateMutex_);
  expect(State::New, "a handler of watch errors cannot be set");
  options_.onError = std::move(handler);
}

// ---- Namespaces.

void InformerCore::expectNamespaces(const char* what) const {
  if (sources_.make) return;
  throw Error(fmt::format(
      "informer of {}: {}: it was made without namespaces: set the option of its factory, or of "
      "its kind",
      name(), what));
}

void InformerCore::addNamespace(const String& name) {
  if (offerNamespace(name)) return;
  const Lock lock(stateMutex_);
  expect(State::Running, "a namespace cannot be added");
}

bool InformerCore::offerNamespace(const String& name) {
  expectNamespaces("a namespace cannot be added");
  if (name.empty()) {
    throw Error(fmt::format("informer of {}: a namespace to be added has no name", this->name()));
  }
  auto part = std::make_shared<InformerPart>(cache_, sources_.make(name), name);
  const Lock lock(stateMutex_);
  if (state_ == State::Stopped) return false;
  if (find(name.view()) != nullptr) return true;
  store()->versions().add(name, part->version());
  members_.push_back({std::move(part)});
  noteChange();
  return true;
}

void InformerCore::removeNamespace(std::string_view name) {
  expectNamespaces("a namespace cannot be removed");
  const Lock lock(stateMutex_);
  Member* const member = find(name);
  if (member == nullptr) return;
  member->wanted = false;
  store()->versions().remove(name);
  noteChange();
}

std::optional<Strings> InformerCore::namespaces() const {
  if (!sources_.make) return std::nullopt;
  std::vector<String> names;
  const Lock lock(stateMutex_);
  for (const Member& member : members_) {
    if (member.wanted) names.push_back(*member.part->namespaceName());
  }
  std::ranges::sort(names);
  Strings result;
  for (String& name : names) result.push_back(std::move(name));
  return result;
}

InformerCore::Member* InformerCore::find(const InformerPart* part) {
  const auto found = std::ranges::find_if(
      members_, [&](const Member& member) { return member.part.get() == part; });
  return found != members_.end() ? &*found : nullptr;
}

// Finds a wanted one.
InformerCore::Member* InformerCore::find(std::string_view namespaceName) {
  const auto found = std::ranges::find_if(members_, [&](const Member& member) {
    return member.wanted && member.part->namespaceName()->view() == namespaceName;
  });
  return found != members_.end() ? &*found : nullptr;
}

void InformerCore::note(const InformerPart* part, bool Member::*what) {
  const Lock lock(stateMutex_);
  if (Member* const member = find(part)) member->*what = true;
  noteChange();
}

void InformerCore::noteChange() {
  membersChanged_ = true;
  changed_.notifyAll();
  noteSync();
}

// The informer has synced while every namespace has.
void InformerCore::noteSync() {
  const bool complete =
      state_ >= State::Running && std::ranges::all_of(members_, [](const Member& member) {
        return member.listed || !member.wanted;
      });
  handlers()->firstList().setComplete(complete);
}

void InformerCore::beginPart(Member& member) {
  member.running = true;
  const InformerPart* const part = member.part.get();
  member.part->begin(options_, transform_, stop_, [this, part] { note(part, &Member::listed); });
}

Task<void> InformerCore::runAll() {
  std::optional<PeriodicTask> resync;
  if (resyncPeriod_ > Clock::Duration::zero()) {
    resync.emplace(handlers()->clock(), resyncPeriod_, [this] { resyncIfDue(); });
  }
  if (sources_.make) {
    co_await runNamespaces();
    co_return;
  }
  std::shared_ptr<InformerPart> only;
  {
    const Lock lock(stateMutex_);
    only = members_.front().part;
  }
  co_await only->run();
}

// Starts and clears parts until a stop is requested. The end of the scope gives them up.
Task<void> InformerCore::runNamespaces() {
  dropOthers();
  const std::stop_token stop = co_await taskStop();
  TaskScope scope(sources_.executor, stop);
  const auto due = [this]() KUBE_REQUIRES(stateMutex_) { return membersChanged_; };
  while (!stop.stop_requested()) {
    const bool changed = co_await changed_.wait(due);
    if (changed) advance(scope);
  }
}

Task<void> InformerCore::runPart(std::shared_ptr<InformerPart> part) {
  const Finally over([this, part = part.get()] { note(part, &Member::over); });
  co_await part->run();
}

// Does what is due, but for what the next change makes due.
void InformerCore::advance(TaskScope& scope) {
  std::vector<std::shared_ptr<InformerPart>> starting, stopping, over;
  {
    const Lock lock(stateMutex_);
    membersChanged_ = false;
    // Parts that have not begun end at once.
    for (const Member& member : members_) {
      if (member.wanted) continue;
      (member.running && !member.over ? stopping : over).push_back(member.part);
    }
    for (Member& member : members_) {
      const auto old = [&](const Member& other) {
        return !other.wanted && other.part->namespaceName() == member.part->namespaceName();
      };
      if (!member.wanted || member.running || std::ranges::any_of(members_, old)) continue;
      beginPart(member);
      starting.push_back(member.part);
    }
  }
  for (const auto& part : stopping) part->requestStop();
  for (const auto& part : over) part->clear();
  if (!over.empty()) {
    const Lock lock(stateMutex_);
    for (const auto& part : over) statsOfRemoved_ += part->stats();
    std::erase_if(members_, [&](const Member& member) {
      return std::ranges::find(over, member.part) != over.end();
    });
    noteChange();
  }
  for (const auto& part : starting) {
    scope.start(runPart(part), fmt::format("the informer of {}", name()));
  }
}

// Drops objects that fill() has brought and that are in no namespace of the informer.
void InformerCore::dropOthers() {
  const Strings own = *namespaces();
  for (const String& name : store()->listIndexFuncValues(kNamespaceIndex)) {
    if (std::ranges::find(own, name) != own.end()) continue;
    for (const ObjectKey& key : store()->indexKeys(kNamespaceIndex, name)) {
      cache_.drop(key, nullptr, true);
    }
  }
  handlers()->callOthers();
}

// ---- Running.

void InformerCore::begin(const std::stop_token& stop) {
  const Lock lock(stateMutex_);
  expect(State::Starting, "run() may be called once");
  stop_ = stop;
  // Throws if the source is not complete; the informer has not begun then.
  if (!sources_.make) beginPart(members_.front());
  resyncPeriod_ = handlers()->start();
  state_ = State::Running;
  noteSync();
}

void InformerCore::resyncIfDue() {
  {
    const Lock lock(stateMutex_);
    if (std::ranges::none_of(members_, &Member::listed)) return;
  }
  if (handlers()->shouldResync()) cache_.resync(stop_);
}

// Waits for handlers.
void InformerCore::end() noexcept {
  {
    const Lock lock(stateMutex_);
    state_ = State::Stopped;
  }
  handlers()->firstList().giveUp();
  store()->versions().end();
  handlers()->stop();
  cache_.noteRunner({});
}

// An informer while it runs.
class InformerCore::Run {
 public:
  Run(std::shared_ptr<InformerCore> informer, const std::stop_token& stop)
      : informer_(begun(std::move(informer), stop)),
        task_(informer_->runAll()),
        metrics_(orDefault(informer_->options_.metrics), informer_->name(),
                 [this] { return informer_->stats(); }) {}

  Task<void> take() { return std::move(task_); }

  /// Runs on an executor, and deletes itself in the end.
  static void start(std::unique_ptr<Run> run, const std::stop_token& stop,
                    std::function<void()> ended) {
    Run& self = *run;
    self.ended_ = std::move(ended);
    self.context_ = {.executor = self.informer_->sources_.executor, .stop = stop};
    // Copied, since the run may be over before post() has returned.
    const Executor executor = self.context_.executor;
    executor.post([held = std::shared_ptr<Run>(std::move(run))]() mutable {
      Run& it = *held;
      it.informer_->cache_.noteRunner();
      const auto coroutine = TaskAccess::coroutineOf(it.task_);
      it.self_ = std::move(held);
      coroutine.promise().beginAsRoot(
          coroutine, it.context_, [](void* owner) noexcept { static_cast<Run*>(owner)->over(); },
          &it);
    });
  }

 private:
  static std::shared_ptr<InformerCore> begun(std::shared_ptr<InformerCore> informer,
                                             const std::stop_token& stop) {
    informer->begin(stop);
    return informer;
  }

  // Called on the executor, which must not wait for handlers.
  void over() noexcept {
    auto finish = [self = std::move(self_)]() mutable {
      const std::function<void()> ended = std::move(self->ended_);
      const std::shared_ptr<InformerCore> informer = self->informer_;
      self->context_.executor = {};
      self.reset();
      informer->end();
      ended();
    };
    try {
      informer_->handlers()->threads().run(finish);
    } catch (const Error&) {
      finish();  // there is no other thread
    }
  }

  const std::shared_ptr<InformerCore> informer_;
  Task<void> task_;
  const InformerMetrics metrics_;
  TaskContext context_;
  std::function<void()> ended_;
  std::shared_ptr<Run> self_;
};

void InformerCore::run(const std::stop_token& stop) {
  cache_.noteRunner();
  {
    const auto self = std::shared_ptr<InformerCore>(std::shared_ptr<void>(), this);
    Run run(self, stop);
    runBlocking(run.take(), stop);
  }
  end();
}

std::thread InformerCore::start(const std::shared_ptr<InformerCore>& informer,
                                const std::stop_token& stop, std::function<void()> ended) {
  if (informer->shares()) {
    Run::start(std::make_unique<Run>(informer, stop), stop, std::move(ended));
    return {};
  }
  return startingThread(fmt::format("the informer of {}", informer->name()), [&] {
    return std::thread([informer, stop, ended] {
      guarded("informer", "the informer", [&] { informer->run(stop); });
      ended();
    });
  });
}

void InformerCore::holdAll(const String& namespaceName) {
  if (!sources_.make) store()->versions().limitTo(namespaceName);
  holdsAll_ = true;
}

bool InformerCore::covers(std::string_view namespaceName) const {
  return holdsAll_ && store()->versions().cover(namespaceName);
}

void InformerCore::belongToFactory(std::string selection) {
  const Lock lock(stateMutex_);
  ofFactory_ = true;
  selection_ = std::move(selection);
}

bool InformerCore::willRun() {
  const Lock lock(stateMutex_);
  if (state_ != State::New) return false;
  state_ = State::Starting;
  return true;
}

void InformerCore::willNotRun() {
  const Lock lock(stateMutex_);
  if (state_ == State::Starting) state_ = State::New;
}

void InformerCore::retire() {
  {
    const Lock lock(stateMutex_);
    if (state_ != State::New) return;
    state_ = State::Stopped;
  }
  handlers()->firstList().giveUp();
  store()->versions().end();
}

bool InformerCore::isRunner() const { return cache_.isOnRunner() && shares(); }

bool InformerCore::isWithin() const { return cache_.isOnRunner() || handlers()->areCalling(); }

// ---- Reading.

bool InformerCore::hasSynced() const { return handlers()->firstList().complete(); }

bool InformerCore::waitForSync(const std::stop_token& stop) const {
  const auto self = std::shared_ptr<const InformerCore>(std::shared_ptr<void>(), this);
  return runBlocking(waitForSync(self), stop);
}

Task<bool> InformerCore::waitForSync(std::shared_ptr<const InformerCore> informer) {
  {
    const Lock lock(informer->stateMutex_);
    if (informer->state_ == State::New && informer->ofFactory_) {
      throw Error(
          fmt::format("informer of {}: waitForSync: nothing runs it: call start() of its factory; "
                      "again, if the informer was requested after start()",
                      informer->name()));
    }
  }
  if (informer->hasSynced()) co_return true;
  // Tells about progress, which the handlers cannot: an informer that nothing runs is their report.
  const SlowWait slow(informer->handlers()->clock(), [&informer](Clock::Duration waited) {
    if (!informer->hasStarted()) return;
    Logger("informer").warning("has waited {} for {}", inSeconds(waited), informer->describeSync());
  });
  co_return co_await informer->handlers()->waitForFirstList();
}

bool InformerCore::hasStarted() const {
  const Lock lock(stateMutex_);
  return state_ != State::New;
}

bool InformerCore::isStopped() const {
  const Lock lock(stateMutex_);
  return state_ == State::Stopped;
}

String InformerCore::lastSyncResourceVersion() const {
  const Lock lock(stateMutex_);
  String oldest;
  for (const Member& member : members_) {
    if (!member.wanted) continue;
    String version = member.part->lastVersion();
    if (version.empty()) return version;
    // Versions are numbers without leading zeros.
    const auto number = [](const String& text) { return std::pair(text.size(), text.view()); };
    if (oldest.empty() || number(version) < number(oldest)) oldest = std::move(version);
  }
  return oldest;
}

InformerStats InformerCore::stats() const {
  InformerStats stats{.objects = store()->size(),
                      .handlers = handlers()->size(),
                      .pending = handlers()->pending(),
                      .lag = handlers()->lag(),
                      .handlerFailures = handlers()->failures()};
  const Lock lock(stateMutex_);
  stats.source = statsOfRemoved_;
  for (const Member& member : members_) stats.source += member.part->stats();
  return stats;
}

}  // namespace kube::detail
