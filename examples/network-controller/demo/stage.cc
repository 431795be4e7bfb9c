#include "examples/network-controller/demo/stage.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

#include "examples/network-controller/definition.h"
#include "examples/network-controller/network_controller.h"
#include "kube/base/poll.h"
#include "kube/base/signal_stop.h"
#include "kube/cache/coordination/v1.h"
#include "kube/cache/core/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/retry.h"
#include "kube/meta/conditions.h"
#include "kube/rest/kubeconfig.h"

namespace network {
namespace {

using namespace std::chrono_literals;
using kube::coordinationv1::Lease;
using kube::corev1::ConfigMap;
using samplecrdv1::Network;

constexpr std::string_view kRed = "31", kGreen = "32", kYellow = "33", kBlue = "34", kPurple = "35",
                           kBold = "1", kDim = "2";

}  // namespace

Stage::Stage(const StageOptions& options)
    : colored_(isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr) {
  std::string pattern = (std::filesystem::temp_directory_path() / "network-demo-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw kube::Error(pattern + ": cannot be created");
  scratch_ = pattern;
  try {
    install(options);
    listen();
  } catch (...) {
    clear();
    std::filesystem::remove_all(scratch_);
    throw;
  }
}

Stage::~Stage() {
  clear();
  if (informers_) informers_->shutdown();
  std::filesystem::remove_all(scratch_);
}

void Stage::install(const StageOptions& options) {
  if (options.cluster) {
    const char* file = std::getenv("KUBECONFIG");
    if (file == nullptr) throw kube::ConfigError("--cluster: $KUBECONFIG is not set");
    kubeconfig_ = file;
    clients_.emplace(kube::Config::load());
    space_ = fmt::format("network-demo-{}", getpid());
    title(fmt::format("The cluster of {}, in a namespace of its own: {}", kubeconfig_, space_));
    kube::corev1::Namespace made;
    made.metadata.name = space_;
    clients_->coreV1().namespaces().create(made);
    ownSpace_ = true;
  } else {
    const auto begun = std::chrono::steady_clock::now();
    server_.emplace();
    kubeconfig_ = (scratch_ / "kubeconfig").string();
    kube::Kubeconfig::parse(server_->kubeconfig()).write(kubeconfig_);
    clients_.emplace(server_->config());
    const auto took = std::chrono::steady_clock::now() - begun;
    title(fmt::format("A Kubernetes API server, in memory: {} (up in {} ms)", server_->url(),
                      std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  }
  const auto report = installDefinition(clients_->rest());
  for (const auto& result : report.results) {
    ownDefinition_ = result.outcome == kube::ManifestOutcome::Created;
    say(toString(result));
  }
}

// Learns from the server alone what the controllers do.
void Stage::listen() {
  informers_.emplace(*clients_, kube::InformerFactoryOptions{.namespace_ = space_});
  const auto heard = [this](const std::shared_ptr<const Network>& network) {
    const auto* ready = kube::findStatusCondition(network->status->conditions, "Ready");
    if (ready == nullptr) return;
    const std::string name = network->metadata.name.str();
    std::string now = fmt::format("{} {}", ready->reason, ready->message);
    if (network->metadata.deletionTimestamp || said_[name] == now) return;
    said_[name] = std::move(now);
    const bool fine = ready->status == kube::kConditionTrue;
    tell(fine ? kGreen : kRed, name,
         fmt::format("{} {}", fine ? "has" : ready->reason.str() + ":", ready->message));
  };
  informers_->informerFor<Network>().addHandler(
      {.onAdd = heard,
       .onUpdate = [heard](auto, const auto& after) { heard(after); },
       .onDelete =
           [this](const kube::DeletedObject<Network>& last) {
             said_.erase(last->metadata.name.str());
             tell(kYellow, last->metadata.name, "is gone");
           }});
  const auto writer = [](const ConfigMap& map) {
    return std::string(map.metadata.annotations[kWrittenBy]);
  };
  informers_->informerFor<ConfigMap>().addHandler(
      {.onAdd =
           [=, this](const std::shared_ptr<const ConfigMap>& map) {
             if (map->metadata.labels[kManagedBy] != kProgram) return;
             tell(kBlue, map->metadata.name, fmt::format("written by {}", writer(*map)));
           },
       .onUpdate =
           [=, this](const auto& before, const auto& after) {
             if (after->metadata.labels[kManagedBy] != kProgram || before->data == after->data) {
               return;
             }
             tell(kBlue, after->metadata.name,
                  fmt::format("is now {}", std::string(after->data["cidr"])));
           }});
  informers_->informerFor<Lease>().addHandler(
      {.onAdd =
           [this](const auto& lease) { tell(kPurple, "leader", *lease->spec->holderIdentity); },
       .onUpdate =
           [this](const auto& before, const auto& after) {
             const auto was = before->spec->holderIdentity.value_or("");
             const auto is = after->spec->holderIdentity.value_or("");
             if (was != is) tell(kPurple, "leader", is.empty() ? "nobody" : is.view());
           }});
  informers_->start();
  informers_->waitForSync();
}

void Stage::clear() {
  if (!clients_) return;
  try {
    if (ownSpace_) {
      for (const auto& network : networks().list().items) {
        networks().remove(network.metadata.name);
        kube::retryOnConflict([&] {  // the controllers may have ended
          auto left = networks().find(network.metadata.name);
          if (!left || left->metadata.finalizers.empty()) return;
          left->metadata.finalizers = {};
          networks().update(*left);
        });
      }
      clients_->coreV1().namespaces().remove(space_);
    }
    if (ownDefinition_ && ownSpace_) removeDefinition(clients_->rest());
  } catch (const kube::Error& error) {
    say(fmt::format("cannot clean up: {}", error.what()));
  }
  ownSpace_ = ownDefinition_ = false;
}

std::string Stage::paint(std::string_view color, std::string_view text) const {
  return colored_ ? fmt::format("\033[{}m{}\033[0m", color, text) : std::string(text);
}
void Stage::pause() const {
  if (isatty(STDOUT_FILENO) != 0) kube::realClock().sleepFor(1500ms, kube::signalStop());
}
void Stage::title(std::string_view text) {
  const std::lock_guard lock(outMutex_);
  fmt::print("\n{}\n", paint(kBold, text));
  std::fflush(stdout);
}
void Stage::say(std::string_view text) { row(paint(kDim, text)); }
void Stage::done(std::string_view text) { row(paint(kGreen, "✓") + " " + std::string(text)); }
void Stage::row(std::string_view text) {
  const std::lock_guard lock(outMutex_);
  fmt::print("  {}\n", text);
  std::fflush(stdout);
}
void Stage::tell(std::string_view color, std::string_view who, std::string_view what) {
  const std::chrono::duration<double> at = std::chrono::steady_clock::now() - start_;
  const std::lock_guard lock(outMutex_);
  fmt::print("  {} {} {}\n", paint(kDim, fmt::format("{:6.2f}s", at.count())),
             paint(color, fmt::format("{:<16}", who)), what);
  std::fflush(stdout);
}

std::unique_ptr<Replica> Stage::startReplica(std::string_view identity) const {
  return std::make_unique<Replica>(
      ReplicaOptions{.identity = std::string(identity),
                     .kubeconfig = kubeconfig_,
                     .namespace_ = space_,
                     .log = (scratch_ / (std::string(identity) + ".log")).string()});
}
kube::ResourceClient<Network> Stage::networks() const {
  return kube::ResourceClient<Network>(clients_->rest(), space_);
}
kube::ResourceClient<ConfigMap> Stage::maps() const {
  return clients_->coreV1().configMaps(space_);
}
void Stage::create(std::string_view name, std::string_view cidr, std::string_view gateway) const {
  Network network;
  network.metadata.name = name;
  network.spec->cidr = cidr;
  network.spec->gateway = gateway;
  networks().create(network);
}
void Stage::change(std::string_view name, std::string_view cidr) const {
  kube::retryOnConflict([&] {
    Network network = networks().get(name);
    network.spec->cidr = cidr;
    network.spec->gateway = {};
    networks().update(network);
  });
}

std::string Stage::leader() const {
  const auto lease = informers_->informerFor<Lease>().lister().get({space_, kProgram});
  return lease ? lease->spec->holderIdentity.value_or("").str() : std::string();
}
std::string Stage::reasonOf(std::string_view name) const {
  const auto network = informers_->informerFor<Network>().lister().get({space_, name});
  if (!network || network->status->observedGeneration != network->metadata.generation) return {};
  const auto* ready = kube::findStatusCondition(network->status->conditions, "Ready");
  return ready != nullptr ? ready->reason.str() : std::string();
}
std::vector<std::shared_ptr<const Network>> Stage::allNetworks() const {
  return informers_->informerFor<Network>().lister().list();
}
std::vector<std::shared_ptr<const ConfigMap>> Stage::allPlans() const {
  return informers_->informerFor<ConfigMap>().lister().list(
      kube::labels::Selector::parse(fmt::format("{}={}", kManagedBy, kProgram)));
}
void Stage::waitUntil(std::string_view what, const std::function<bool()>& holds) const {
  try {
    kube::poll({.interval = 10ms, .timeout = 30s}, kube::signalStop(), holds);
  } catch (const kube::TimeoutError&) {
    throw kube::Error(fmt::format("waited 30 s in vain for {}", what));
  }
}

}  // namespace network
