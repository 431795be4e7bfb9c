#include "kube/controller/internal/kind_follower.h"

#include <fmt/core.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "kube/api/apiextensions/v1.h"
#include "kube/base/internal/finally.h"
#include "kube/base/internal/guarded.h"
#include "kube/base/internal/join_later.h"
#include "kube/base/internal/start_thread.h"
#include "kube/cache/resource_informer_factory.h"
#include "kube/client/resource_client.h"

namespace kube::detail {
namespace {

using apiextensionsv1::CustomResourceDefinition;

constexpr std::chrono::seconds kPause{5};  // before the next try, if the server does not answer

bool isEstablished(const CustomResourceDefinition& definition) {
  for (const auto& condition : definition.status->conditions) {
    if (condition.type == "Established") return condition.status == "True";
  }
  return false;
}

// "networks.samplecrd.k8s.io" is a name in the group samplecrd.k8s.io.
bool isOf(std::string_view definition, std::string_view group) {
  return definition.size() > group.size() && definition.ends_with(group) &&
         definition[definition.size() - group.size() - 1] == '.';
}

}  // namespace

struct KindFollower::Served {
  GroupVersionResource resource;
  bool namespaced = false;
  bool operator==(const Served&) const = default;
};

// The kind while it is served.
class KindFollower::Following {
 public:
  Following(KindFollower& follower, const Served& served)
      : follower_(follower),
        factory_(DynamicClient(follower.rest_), optionsOf(follower.options_, served)) {
    const auto informer = InformerAccess::coreOf(factory_.forResource(served.resource));
    source_ = follower.begin_(informer, [this] { factory_.start(); });
    const Lock lock(follower.stateMutex_);
    follower.informer_ = informer;
    follower.source_ = source_;
    follower.changed_.notifyAll();
  }
  ~Following() {
    {
      const Lock lock(follower_.stateMutex_);
      follower_.source_ = nullptr;
      follower_.informer_ = nullptr;
      follower_.changed_.notifyAll();
    }
    source_->end();
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

 private:
  static InformerFactoryOptions optionsOf(InformerFactoryOptions options, const Served& served) {
    if (!served.namespaced) options.namespace_ = String();
    return options;
  }

  KindFollower& follower_;
  DynamicInformerFactory factory_;
  std::shared_ptr<RunningSource> source_;
};

KindFollower::KindFollower(RestClient rest, InformerFactoryOptions options, Definitions definitions,
                           GroupKind kind, const Logger& log, const std::stop_token& stop,
                           Begin begin)
    : rest_(std::move(rest)),
      options_(std::move(options)),
      definitions_(std::move(definitions)),
      kind_(std::move(kind)),
      log_(log.with("kind", kind_.str())),
      begin_(std::move(begin)),
      stop_(stop, std::stop_token()) {}
KindFollower::~KindFollower() {
  if (thread_.joinable()) joinLater(std::move(thread_));  // end() was not called
}

KindFollower::Definitions KindFollower::definitionsOf(const SharedInformerFactory& factory) {
  return factory.metadataOf<CustomResourceDefinition>();
}

std::shared_ptr<KindFollower> KindFollower::start(RestClient rest, InformerFactoryOptions options,
                                                  Definitions definitions, GroupKind kind,
                                                  const Logger& log, const std::stop_token& stop,
                                                  Begin begin) {
  std::shared_ptr<KindFollower> follower(new KindFollower(std::move(rest), std::move(options),
                                                          std::move(definitions), std::move(kind),
                                                          log, stop, std::move(begin)));
  follower->thread_ = startingThread("the source of " + follower->kind_.str(), [&] {
    return std::thread(
        [follower] { guarded(follower->log_, "the source", [&] { follower->run(); }); });
  });
  return follower;
}

void KindFollower::run() {
  const auto onChange = [this](const auto& definition) {
    if (!isOf(definition->metadata.name, kind_.group)) return;
    const Lock lock(stateMutex_);
    definitionsChanged_ = true;
    changed_.notifyAll();
  };
  const HandlerRegistration handler =
      definitions_.addHandler({.onAdd = onChange,
                               .onUpdate = [&](const auto&, const auto& now) { onChange(now); },
                               .onDelete = onChange},
                              {.name = "the source of " + kind_.str(), .quick = true});
  const Finally ending([&] {
    handler.remove();
    const Lock lock(stateMutex_);
    ended_ = true;
    changed_.notifyAll();
  });
  if (!handler.waitForSync(stop_.token())) return;
  std::optional<Served> served;
  std::optional<Following> following;
  for (bool first = true; !stop_.token().stop_requested(); first = false) {
    {
      const Lock lock(stateMutex_);
      definitionsChanged_ = false;
    }
    Clock::TimePoint again = Clock::noDeadline;
    try {
      std::optional<Served> now = look();
      if (now != served) following.reset();
      if (now && !following) following.emplace(*this, *now);
      if (first || now != served) {
        if (now) {
          log_.info("the kind is served, and its source begins: {}", now->resource.str());
        } else {
          log_.warning("the kind is not served {}: its source waits for a definition",
                       first ? "yet" : "any more");
        }
      }
      served = std::move(now);
      const Lock lock(stateMutex_);
      looked_ = true;
      changed_.notifyAll();
    } catch (const Error& error) {
      if (stop_.token().stop_requested()) return;
      log_.warning("the definition of the kind cannot be read, trying again: {}", error.what());
      again = realClock().deadlineAfter(kPause);
    }
    const auto changed = [this]() KUBE_NOT_CHECKED { return definitionsChanged_; };
    runBlocking(changed_.waitUntil(changed, realClock(), again), stop_.token());
  }
}

std::optional<KindFollower::Served> KindFollower::look() const {
  const ResourceClient<CustomResourceDefinition> client(rest_);
  for (const auto& known : definitions_.lister().list()) {
    if (!isOf(known->metadata.name, kind_.group)) continue;
    const auto found = client.find(known->metadata.name, {}, stop_.token());
    if (!found || found->spec->names->kind != kind_.kind || !isEstablished(*found)) continue;
    String best;
    for (const auto& version : found->spec->versions) {
      if (version.served && (best.empty() || compareKubeAwareVersions(version.name, best) > 0)) {
        best = version.name;
      }
    }
    if (best.empty()) continue;
    return Served{{kind_.group, best, found->spec->names->plural},
                  found->spec->scope == "Namespaced"};
  }
  return std::nullopt;
}

Task<bool> KindFollower::waitForSync() const {
  const auto looked = [this]() KUBE_NOT_CHECKED { return looked_ || ended_; };
  for (;;) {
    const bool any = co_await changed_.wait(looked);
    if (!any) co_return false;
    std::shared_ptr<RunningSource> source;
    {
      const Lock lock(stateMutex_);
      if (ended_) co_return false;
      source = source_;
    }
    if (source == nullptr) co_return true;
    const bool synced = co_await source->waitForSync();
    if (synced) co_return true;
    const std::stop_token stop = co_await taskStop();
    if (stop.stop_requested()) co_return false;
  }
}

void KindFollower::end() {
  stop_.requestStop();
  if (!thread_.joinable()) return;
  std::shared_ptr<InformerCore> informer;
  {
    const Lock lock(stateMutex_);
    informer = informer_;
  }
  // The thread waits for the handler, which cannot wait for the thread.
  if (informer && informer->isWithin()) {
    joinLater(std::move(thread_));
  } else {
    thread_.join();
  }
}

std::string KindFollower::describe() const {
  std::shared_ptr<RunningSource> source;
  {
    const Lock lock(stateMutex_);
    source = source_;
  }
  return source ? source->describe() : kind_.str() + ": not served";
}

}  // namespace kube::detail
