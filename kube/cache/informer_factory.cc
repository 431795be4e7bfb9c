#include "kube/cache/informer_factory.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>

#include "kube/base/error.h"
#include "kube/base/internal/join_later.h"
#include "kube/base/log.h"
#include "kube/cache/internal/client_source.h"

namespace kube {

// Tells when an informer has ended: its last handler has returned.
class InformerFactory::Ending {
 public:
  void end() {
    const detail::Lock lock(endedMutex_);
    ended_ = true;
    changed_.notify_all();
  }
  void wait() {
    detail::Lock lock(endedMutex_);
    changed_.wait(lock, [this]() KUBE_REQUIRES(endedMutex_) { return ended_; });
  }

  std::thread thread;  // of an informer that has one; owned by the factory

 private:
  detail::Mutex endedMutex_;
  std::condition_variable changed_;
  bool ended_ KUBE_GUARDED_BY(endedMutex_) = false;
};

InformerFactory::InformerFactory(InformerFactoryOptions options) : options_(std::move(options)) {}
InformerFactory::~InformerFactory() { end(); }

InformerFactory::Core InformerFactory::obtain(std::string_view name,
                                              const std::function<Core()>& make,
                                              const std::string& selection, Match match) const {
  const detail::Lock lock(entriesMutex_);
  for (const Entry& entry : entries_) {
    if (entry.name != name) continue;
    if (match == Match::SameSelection && entry.selection != selection) {
      throw Error(fmt::format(
          "informer factory: informer of {} with {}: the factory already has one with {}: it has "
          "one informer of each kind; use another factory for another selection",
          entry.informer->name(), selection, entry.selection));
    }
    return entry.informer;
  }
  Core informer = make();
  informer->belongToFactory();
  entries_.push_back({std::string(name), selection, informer});
  return informer;
}

InformerFactory::Core InformerFactory::found(std::string_view name) const {
  const detail::Lock lock(entriesMutex_);
  const auto entry = std::ranges::find(entries_, name, &Entry::name);
  return entry != entries_.end() ? entry->informer : nullptr;
}

bool InformerFactory::isRunning() const {
  const detail::Lock lock(entriesMutex_);
  return running_ && !stop_.stop_requested();
}

std::string InformerFactory::describeSelection(const metav1::ListOptions& which) {
  std::string text;
  const auto add = [&](std::string_view name, const String& selector) {
    if (selector.empty()) return;
    text += fmt::format("{}{} \"{}\"", text.empty() ? "" : ", ", name, selector);
  };
  add("labelSelector", which.labelSelector);
  add("fieldSelector", which.fieldSelector);
  return text.empty() ? "no selector" : text;
}

InformerFactory::Core InformerFactory::makeInformer(const detail::InformedType& type,
                                                    const detail::ResourceRequests& requests,
                                                    Clock::Duration resync, std::string name,
                                                    const metav1::ListOptions& which) const {
  SharedInformerOptions informer = options_.informer;
  informer.resync = resync;
  informer.name = std::move(name);
  auto tweak = [own = options_.tweakListOptions, labels = which.labelSelector,
                fields = which.fieldSelector](metav1::ListOptions& options) {
    if (!labels.empty()) options.labelSelector = labels;
    if (!fields.empty()) options.fieldSelector = fields;
    if (own) own(options);
  };
  return detail::makeInformer(
      type.makeStore(),
      detail::clientSource({requests, std::move(tweak)}, type.info, type.makeObject),
      std::move(informer));
}

void InformerFactory::start(const std::stop_token& stop) {
  const detail::Lock lock(entriesMutex_);
  if (stop_.stop_requested()) return;
  running_ = true;
  bool any = false;
  std::exception_ptr failure;
  for (Entry& entry : entries_) {
    if (!entry.informer->willRun()) continue;
    const auto ending = std::make_shared<Ending>();
    try {
      ending->thread = detail::InformerCore::start(entry.informer, stop_.get_token(),
                                                   [ending] { ending->end(); });
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

bool InformerFactory::waitForSync(const std::stop_token& stop) const {
  return detail::runBlocking(waitForSyncOf(*this), stop);
}

// Uses the factory only at the beginning.
Task<bool> InformerFactory::waitForSyncOf(const InformerFactory& factory) {
  const detail::TaskContext& context = co_await detail::CurrentContext();
  std::vector<Core> informers;
  const std::stop_token stop = factory.stop_.get_token();
  {
    const detail::Lock lock(factory.entriesMutex_);
    if (stop.stop_requested() || context.stop.stop_requested()) co_return false;
    for (const Entry& entry : factory.entries_) {
      if (!entry.informer->hasStarted()) {
        throw Error(
            fmt::format("informer factory: waitForSync: the informer of {} does not run: "
                        "call start(); again, if the informer was requested after start()",
                        entry.informer->name()));
      }
      informers.push_back(entry.informer);
    }
  }
  for (const auto& informer : informers) {
    const bool synced = co_await withStop(detail::InformerCore::waitForSync(informer), stop);
    if (!synced) co_return false;
  }
  co_return true;
}

void InformerFactory::shutdown() {
  {
    const detail::Lock lock(entriesMutex_);
    for (const Entry& entry : entries_) {
      if (!entry.informer->isWithin()) continue;
      throw Error(fmt::format(
          "informer factory: shutdown(): called by a handler of {}, it would wait for that "
          "handler for ever: request a stop by the token given to start(), and shut "
          "down on another thread",
          entry.informer->name()));
    }
  }
  end();
}

void InformerFactory::end() {
  stop_.request_stop();
  std::vector<std::shared_ptr<Ending>> endings;
  decltype(stops_) stops;  // destroyed without the lock, because that waits for callbacks under way
  {
    const detail::Lock lock(entriesMutex_);
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
        Logger("informer").debug("a handler of {} destroys the factory", entry.name);
        if (entry.ending->thread.joinable()) joinLater(std::move(entry.ending->thread));
      } else {
        endings.push_back(entry.ending);
      }
    }
  }
  for (const auto& ending : endings) {
    ending->wait();
    if (ending->thread.joinable()) ending->thread.join();
  }
  detail::Lock lock(entriesMutex_);
  --ending_;
  ended_.notify_all();
  ended_.wait(lock, [&]() KUBE_REQUIRES(entriesMutex_) { return ending_ == 0; });
}

std::string InformerFactory::describe() const {
  std::vector<Core> informers;
  {
    const detail::Lock lock(entriesMutex_);
    for (const Entry& entry : entries_) informers.push_back(entry.informer);
  }
  std::string text;
  for (const auto& informer : informers) text += informer->describe() + "\n";
  return text;
}

}  // namespace kube
