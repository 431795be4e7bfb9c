#include "kube/cache/internal/informer_core.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/start_thread.h"
#include "kube/base/task.h"
#include "kube/cache/internal/handlers.h"
#include "kube/cache/internal/informer_metrics.h"
#include "kube/cache/internal/reflector_loop.h"
#include "kube/cache/store.h"

namespace kube::detail {

std::shared_ptr<InformerCore> makeInformer(std::unique_ptr<UntypedStore> store,
                                           std::unique_ptr<ObjectSource> source,
                                           SharedInformerOptions options,
                                           std::vector<UntypedStore::Index> indexes) {
  return std::make_shared<InformerCore>(std::move(store), std::move(source), std::move(options),
                                        std::move(indexes));
}

InformerCore::InformerCore(std::unique_ptr<UntypedStore> store,
                           std::unique_ptr<ObjectSource> source, SharedInformerOptions options,
                           std::vector<UntypedStore::Index> indexes)
    : store_(std::move(store)),
      handlers_(std::make_shared<Handlers>(
          options.name.empty() ? std::string(store_->type().info.name) : options.name,
          options.resync, orReal(options.clock))),
      source_(std::move(source)),
      options_(std::move(options)) {
  if (options_.name.empty()) options_.name = store_->type().info.name;
  const auto byNamespace = [](const auto& index) { return index.name == kNamespaceIndex; };
  if (std::ranges::none_of(indexes, byNamespace)) {
    indexes.push_back({String(kNamespaceIndex), namespaceValues(store_->type())});
  }
  store_->addIndexes(std::move(indexes));
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
  auto queue = std::make_shared<HandlerQueue>(store_->type(), name(), options, std::move(handler),
                                              handlers_->threads(), handlers_->clock());
  const Lock lock(stateMutex_);
  expect(State::Running, "a handler cannot be added");
  const Clock::Duration resync = options.resync.value_or(options_.resync);
  if (state_ < State::Running) {
    handlers_->add(queue, resync);
    return queue;
  }
  // Between two changes: objects in the store are reported now, later changes from the queue.
  const Lock between(changesMutex_);
  for (Object& object : store_->list<void>({})) {
    queue->push(
        {.type = Notification::Type::Add, .inInitialList = true, .after = std::move(object)});
  }
  queue->start();
  handlers_->add(queue, resync);
  return queue;
}

void InformerCore::addIndexes(std::vector<UntypedStore::Index> indexes) {
  const Lock lock(stateMutex_);
  expect(State::Running, "an index cannot be added");
  store_->addIndexes(std::move(indexes));
}

void InformerCore::fill(std::vector<Object> objects) {
  const Lock lock(stateMutex_);
  expect(State::New, "it cannot be filled");
  store_->replace(std::move(objects), {});
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

// ---- Running.

ReflectorLoop& InformerCore::begin(const std::stop_token& stop) {
  const Lock lock(stateMutex_);
  expect(State::Starting, "run() may be called once");
  ReflectorOptions options = options_;
  options.resync = handlers_->start();
  options.shouldResync = [handlers = handlers_] { return handlers->shouldResync(); };
  reflector_ = std::make_unique<ReflectorLoop>(store_->type(), *source_,
                                               static_cast<ReflectorStore<void>&>(*this),
                                               std::move(options), transform_);
  stop_ = stop;
  state_ = State::Running;
  return *reflector_;
}

void InformerCore::noteRunner() {
  const Lock lock(stateMutex_);
  runner_ = std::this_thread::get_id();
}

// Waits for handlers.
void InformerCore::end() noexcept {
  {
    const Lock lock(stateMutex_);
    state_ = State::Stopped;
  }
  handlers_->firstList().giveUp();
  store_->version()->end();
  handlers_->stop();
  const Lock lock(stateMutex_);
  runner_ = {};
}

// An informer while it runs.
class InformerCore::Run {
 public:
  Run(std::shared_ptr<InformerCore> informer, const std::stop_token& stop)
      : informer_(std::move(informer)),
        task_(informer_->begin(stop).run()),
        metrics_(orDefault(informer_->options_.metrics), informer_->name(),
                 [this] { return informer_->stats(); }) {}

  Task<void> take() { return std::move(task_); }

  /// Runs on an executor, and deletes itself in the end.
  static void start(std::unique_ptr<Run> run, const std::stop_token& stop,
                    std::function<void()> ended) {
    Run& self = *run;
    self.ended_ = std::move(ended);
    self.context_ = {.executor = self.informer_->source_->executor(), .stop = stop};
    // Copied, since the run may be over before post() has returned.
    const Executor executor = self.context_.executor;
    executor.post([held = std::shared_ptr<Run>(std::move(run))]() mutable {
      Run& it = *held;
      it.informer_->noteRunner();
      const auto coroutine = TaskAccess::coroutineOf(it.task_);
      it.self_ = std::move(held);
      coroutine.promise().beginAsRoot(
          coroutine, it.context_, [](void* owner) noexcept { static_cast<Run*>(owner)->over(); },
          &it);
    });
  }

 private:
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
      informer_->handlers_->threads().run(finish);
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
  noteRunner();
  {
    const auto self = std::shared_ptr<InformerCore>(std::shared_ptr<void>(), this);
    Run run(self, stop);
    runBlocking(run.take(), stop);
  }
  end();
}

std::thread InformerCore::start(const std::shared_ptr<InformerCore>& informer,
                                const std::stop_token& stop, std::function<void()> ended) {
  if (informer->source_->executor()) {
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

void InformerCore::belongToFactory() {
  const Lock lock(stateMutex_);
  ofFactory_ = true;
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

bool InformerCore::isRunner() const {
  const Lock lock(stateMutex_);
  return runner_ == std::this_thread::get_id() && shares();
}

bool InformerCore::isWithin() const {
  {
    const Lock lock(stateMutex_);
    if (runner_ == std::this_thread::get_id()) return true;
  }
  return handlers_->areCalling();
}

// ---- Calls of the reflector.

namespace {

// Handlers on other threads are told of so many changes of a list at a time. If each change woke a
// thread, the thread would be done before the next change, and sleep again.
constexpr std::size_t kAtATime = 256;

void checkBrought(const InformerCore::Object& object) {
  if (object == nullptr) throw Error("informer: the source has brought an object that is null");
}

}  // namespace

void InformerCore::add(Object object) { update(std::move(object)); }

void InformerCore::update(Object object) {
  const Finally atTheEnd([this] { handlers_->callOthers(); });
  apply(std::move(object));
  endOfList();
}

void InformerCore::remove(Object object) {
  checkBrought(object);
  const Finally atTheEnd([this] { handlers_->callOthers(); });
  const ObjectKey key = store_->type().keyOf(object.get());
  drop(key, std::move(object), false);
  endOfList();
}

void InformerCore::replace(std::vector<Object> objects, const String& resourceVersion) {
  for (const Object& object : objects) checkBrought(object);
  const Finally atTheEnd([this] { handlers_->callOthers(); });
  std::vector<ObjectKey> missing = keysMissingIn(objects);
  std::size_t count = 0;
  const auto goesOn = [&] {
    if (++count % kAtATime == 0) handlers_->callOthers();
    return !stop_.stop_requested();
  };
  for (Object& object : objects) {
    if (!goesOn()) return;
    apply(std::move(object));
  }
  for (const ObjectKey& key : missing) {
    if (!goesOn()) return;
    drop(key, nullptr, true);
  }
  reached(resourceVersion);  // before the informer counts as synced
  endOfList();
}

void InformerCore::resync() {
  const Finally atTheEnd([this] { handlers_->callOthers(); });
  std::size_t count = 0;
  for (const Object& object : store_->list<void>({})) {
    if (stop_.stop_requested()) return;
    {
      const Lock lock(changesMutex_);
      handlers_->distribute({.type = Notification::Type::Update, .before = object, .after = object},
                            true);
    }
    handlers_->callQuickOnes();
    if (++count % kAtATime == 0) handlers_->callOthers();
  }
}

// The keys in the store that no listed object has.
std::vector<ObjectKey> InformerCore::keysMissingIn(const std::vector<Object>& objects) const {
  std::vector<ObjectKey> keys = store_->listKeys();
  if (keys.empty()) return keys;
  std::unordered_set<ObjectKey, KeyHash> listed;
  listed.reserve(objects.size());
  for (const Object& object : objects) listed.insert(store_->type().keyOf(object.get()));
  std::erase_if(keys, [&](const ObjectKey& key) { return listed.contains(key); });
  return keys;
}

// Puts an object into the store, and tells the handlers.
void InformerCore::apply(Object object) {
  checkBrought(object);
  {
    const Lock lock(changesMutex_);
    Object before = store_->put(object);
    if (before == nullptr) {
      handlers_->distribute({.type = Notification::Type::Add,
                             .inInitialList = inFirstList_,
                             .after = std::move(object)},
                            false);
    } else {
      // An update without a change is a resync, which only handlers that are due receive.
      const ObjectType& type = store_->type();
      const bool sync =
          type.resourceVersionOf(before.get()) == type.resourceVersionOf(object.get());
      handlers_->distribute({.type = Notification::Type::Update,
                             .before = std::move(before),
                             .after = std::move(object)},
                            sync);
    }
  }
  handlers_->callQuickOnes();
}

// Removes an object from the store, and tells the handlers. `last` is its final state, or null.
void InformerCore::drop(const ObjectKey& key, Object last, bool finalStateUnknown) {
  {
    const Lock lock(changesMutex_);
    Object before = store_->remove({key.namespace_, key.name});
    if (before == nullptr) return;
    handlers_->distribute({.type = Notification::Type::Delete,
                           .finalStateUnknown = finalStateUnknown,
                           .before = last != nullptr ? std::move(last) : std::move(before),
                           .key = key},
                          false);
  }
  handlers_->callQuickOnes();
}

void InformerCore::endOfList() {
  if (std::exchange(inFirstList_, false)) handlers_->firstList().setComplete();
}

// ---- Reading.

bool InformerCore::hasSynced() const { return handlers_->firstList().complete(); }

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
  co_return co_await informer->handlers_->waitForFirstList();
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
  return reflector_ != nullptr ? reflector_->lastSyncResourceVersion() : String();
}

InformerStats InformerCore::stats() const {
  InformerStats stats{.objects = store_->size(),
                      .handlers = handlers_->size(),
                      .pending = handlers_->pending(),
                      .lag = handlers_->lag(),
                      .handlerFailures = handlers_->failures()};
  const Lock lock(stateMutex_);
  if (reflector_ != nullptr) stats.source = reflector_->stats();
  return stats;
}

std::string InformerCore::describe() const {
  const InformerStats now = stats();
  const auto count = [](std::uint64_t n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  std::string text = fmt::format(
      "{}: {}, {}; {}, {}, {}", name(),
      !hasStarted()  ? "not started"
      : isStopped()  ? "stopped"
      : !hasSynced() ? "not synced yet"
                     : "synced at version " + lastSyncResourceVersion().str(),
      count(now.objects, "object"), count(now.source.lists, "list"),
      fmt::format("{} watch{}", now.source.watches, now.source.watches == 1 ? "" : "es"),
      count(now.source.events, "event"));
  if (const std::uint64_t kilobytes = now.source.sharedBytes / 1000; kilobytes != 0) {
    text += fmt::format(", {} kB shared", kilobytes);
  }
  text += fmt::format("; {}", count(now.handlers, "handler"));
  for (const std::string& busy : handlers_->busy()) text += ", " + busy;
  if (now.pending != 0) {
    text += fmt::format(", {} waiting for up to {} ms", count(now.pending, "notification"),
                        std::chrono::duration_cast<std::chrono::milliseconds>(now.lag).count());
  }
  if (now.handlerFailures != 0) text += ", " + count(now.handlerFailures, "failure") + " of them";
  if (now.source.errors != 0) {
    text +=
        fmt::format("; {}, the last: {}", count(now.source.errors, "error"), now.source.lastError);
  }
  return text;
}

}  // namespace kube::detail
