#include "examples/network-controller/network_controller.h"

#include <fmt/core.h>

#include <chrono>

#include "kube/base/backoff.h"
#include "kube/base/log.h"
#include "kube/client/core/v1.h"
#include "kube/client/retry.h"
#include "kube/controller/create_or_update.h"
#include "kube/controller/finalizers.h"
#include "kube/meta/conditions.h"
#include "kube/meta/equality.h"
#include "kube/meta/owner.h"

namespace network {
namespace {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::corev1::ConfigMap;
using samplecrdv1::Network;

// Smaller blocks have no address for hosts besides the gateway.
constexpr int kLongestPrefix = 30;

// Selects the ConfigMaps of this program.
kube::metav1::ListOptions own() {
  return {.labelSelector = fmt::format("{}={}", kManagedBy, kProgram)};
}

kube::Map<kube::String> dataOf(const Ipv4Block& block, std::uint32_t gateway) {
  return {{"broadcast", formatAddress(block.last())},
          {"cidr", block.str()},
          {"first", formatAddress(block.first + 1)},
          {"gateway", formatAddress(gateway)},
          {"last", formatAddress(block.last() - 1)},
          {"netmask", formatAddress(Ipv4Block::mask(block.prefix))}};
}

}  // namespace

NetworkController::NetworkController(kube::Manager& manager, NetworkControllerOptions options)
    : networks_(manager.leaderClients().rest()),
      maps_(manager.leaderClients().coreV1().configMaps()),
      cachedMaps_(manager.informers().informerFor<ConfigMap>(own())),
      events_(manager.clients().rest(), {.component = std::string(kProgram)}),
      identity_(manager.identity()),
      plan_(options.pool),
      controller_(manager.controller<Network>("networks")) {
  controller_.when(kube::generationChanged)
      .owns(cachedMaps_)
      .workers(options.workers)
      .beforeWork([this](const std::stop_token& stop) { readPlan(stop); })
      .reconcile([this](const ObjectKey& key, const std::stop_token& stop) {
        return reconcile(key, stop);
      });
}

// Reads from the server: the cache may not have the last writes of the previous leader yet.
void NetworkController::readPlan(const std::stop_token& stop) {
  plan_.clear();
  const auto maps = kube::retryOnError(
      [&](const std::exception& error) {
        kube::Logger("networks").warning("the plan cannot be read: {}", error.what());
        return !stop.stop_requested();
      },
      [&] { return maps_.list(own(), stop); }, {.initial = 200ms, .cap = 10s, .jitter = 0.5}, stop);
  for (const ConfigMap& map : maps.items) {
    const auto* owner = kube::getControllerOf(map);
    if (owner == nullptr || owner->kind != "Network") continue;
    try {
      plan_.claim({map.metadata.namespace_, owner->name}, Ipv4Block::parse(map.data["cidr"]));
    } catch (const kube::Error& error) {  // changed by others; reconcile will write it again
      kube::Logger("networks").warning("{}: {}", kube::keyOf(map).str(), error.what());
    }
  }
}

kube::Requeue NetworkController::reconcile(const ObjectKey& key, const std::stop_token& stop) {
  const auto cached = controller_.lister().get(key);
  if (!cached) {
    plan_.forget(key);
    wake(plan_.release(key));
    return {};
  }
  Network network = *cached;
  if (network.metadata.deletionTimestamp) {
    cleanUp(key, std::move(network), stop);
    return {};
  }
  // Comes before anything that needs a cleanup.
  kube::ensureFinalizer(networks_, network, kFinalizer, stop);
  if (network.metadata.deletionTimestamp) return kube::Requeue::now();

  Verdict verdict = decide(key, network);
  if (verdict.block && !writePlan(network, verdict)) {
    verdict = {.reason = "NameTaken",
               .message = fmt::format("the ConfigMap \"{}\" exists and belongs to another owner",
                                      planName(key))};
  }
  if (!verdict.block) {
    removePlan(network);
    wake(plan_.release(key));
  } else {
    wake(plan_.settle(key, *verdict.block));
  }
  writeStatus(network, verdict, stop);
  return {};
}

NetworkController::Verdict NetworkController::decide(const ObjectKey& key, const Network& network) {
  const kube::String& wanted = network.spec->cidr;
  Verdict verdict{.reason = "Allocated"};
  try {
    const bool anywhere = wanted.view().starts_with('/');
    const Ipv4Block asked = anywhere ? Ipv4Block{.prefix = parsePrefix(wanted.view().substr(1))}
                                     : Ipv4Block::parse(wanted);
    if (asked.prefix > kLongestPrefix) {
      throw kube::Error(fmt::format("\"{}\" is too small: expected /{} or a larger block", wanted,
                                    kLongestPrefix));
    }
    if (anywhere) {
      verdict.block = plan_.claimAny(key, asked.prefix);
      if (!verdict.block) {
        return {.reason = "PoolExhausted",
                .message = fmt::format("the pool has no free block of size {}", wanted)};
      }
    } else if (const auto blocker = plan_.claim(key, asked)) {
      return {.reason = "Overlap",
              .message = fmt::format("{} overlaps {} of Network {}", asked.str(),
                                     blocker->block.str(), blocker->owner.str())};
    } else {
      verdict.block = asked;
    }
  } catch (const kube::Error& error) {
    plan_.forget(key);
    return {.reason = "InvalidCidr", .message = error.what()};
  }

  const Ipv4Block& block = *verdict.block;
  try {
    const kube::String& gateway = network.spec->gateway;
    verdict.gateway = gateway.empty() ? block.first + 1 : parseAddress(gateway);
    if (!block.contains(verdict.gateway) || verdict.gateway == block.first ||
        verdict.gateway == block.last()) {
      throw kube::Error(fmt::format("{} is not a host address in {}", gateway, block.str()));
    }
  } catch (const kube::Error& error) {
    return {.reason = "InvalidGateway", .message = error.what()};
  }
  verdict.message = fmt::format("{} with gateway {}", block.str(), formatAddress(verdict.gateway));
  return verdict;
}

bool NetworkController::writePlan(const Network& network, const Verdict& verdict) {
  const ObjectKey key = kube::keyOf(network);
  const auto complete = [&](ConfigMap& map) {
    const ConfigMap before = map;
    map.metadata.labels[kManagedBy] = kProgram;
    map.data = dataOf(*verdict.block, verdict.gateway);
    kube::setControllerReference(network, map);
    if (map != before) map.metadata.annotations[kWrittenBy] = identity_;
  };
  const auto cached = cachedMaps_.lister().get({key.namespace_, planName(key)});
  if (cached) {
    if (!kube::isControlledBy(*cached, network)) return false;
    ConfigMap wanted = *cached;
    complete(wanted);
    // The cache is trusted unless the owner has another block to give back: the server may have
    // that one, written a moment ago, instead of the cached one.
    if (wanted == *cached && !plan_.hasMore(key, verdict.block)) return true;
  }
  ConfigMap map;
  map.metadata.namespace_ = key.namespace_;
  map.metadata.name = planName(key);
  bool foreign = false;
  const auto maps = maps_.inNamespace(key.namespace_);
  if (!cached) {  // in most cases it is new
    complete(map);
    try {
      maps.create(map);
      return true;
    } catch (const kube::ApiError& error) {
      if (!kube::isAlreadyExists(error)) throw;
    }
  }
  kube::createOrUpdate(maps, map, [&] {
    foreign = !map.metadata.uid.empty() && !kube::isControlledBy(map, network);
    if (!foreign) complete(map);
  });
  return !foreign;
}

void NetworkController::removePlan(const Network& network) {
  const ObjectKey key = kube::keyOf(network);
  const auto maps = maps_.inNamespace(key.namespace_);
  std::optional<ConfigMap> map;
  if (plan_.hasMore(key)) {  // the cache may not have the ConfigMap yet
    map = maps.find(planName(key));
  } else if (const auto cached = cachedMaps_.lister().get({key.namespace_, planName(key)})) {
    map = *cached;
  }
  if (!map || !kube::isControlledBy(*map, network)) return;
  kube::metav1::DeleteOptions options;
  options.preconditions->uid = map->metadata.uid;
  try {
    maps.remove(map->metadata.name, options);
  } catch (const kube::ApiError& error) {
    if (!kube::isNotFound(error)) throw;
  }
}

void NetworkController::writeStatus(Network& network, const Verdict& verdict,
                                    const std::stop_token& stop) {
  const auto client = networks_.inNamespace(network.metadata.namespace_);
  const kube::String uid = network.metadata.uid;
  const std::int64_t generation = network.metadata.generation;
  std::string saidBefore;
  bool first = true;
  const bool changed = kube::retryOnConflict(
      [&] {
        if (!std::exchange(first, false)) {
          network = client.get(network.metadata.name, {}, stop);
          // The spec has changed, which has queued the Network again. That run writes the status.
          if (network.metadata.uid != uid || network.metadata.generation != generation)
            return false;
        }
        const Network before = network;
        if (const auto* ready = kube::findStatusCondition(before.status->conditions, "Ready")) {
          saidBefore = ready->message.str();
        }
        network.status->cidr = verdict.block ? verdict.block->str() : "";
        network.status->gateway = verdict.block ? formatAddress(verdict.gateway) : "";
        network.status->observedGeneration = network.metadata.generation;
        kube::setStatusCondition(
            network.status->conditions,
            {.type = "Ready",
             .status = verdict.block ? kube::kConditionTrue : kube::kConditionFalse,
             .observedGeneration = network.metadata.generation,
             .reason = verdict.reason,
             .message = verdict.message});
        if (kube::semanticEqual(network, before)) return false;
        network = client.updateStatus(network, {}, stop);
        return true;
      },
      stop);
  if (!changed || saidBefore == verdict.message) return;
  if (verdict.block) {
    events_.normal(network, verdict.reason, "{}", verdict.message);
  } else {
    events_.warning(network, verdict.reason, "{}", verdict.message);
  }
}

void NetworkController::cleanUp(const ObjectKey& key, Network network,
                                const std::stop_token& stop) {
  if (!kube::containsFinalizer(network, kFinalizer)) return;
  removePlan(network);
  if (!network.status->cidr.empty()) {
    events_.normal(network, "Released", "{} is free", network.status->cidr);
  }
  kube::removeFinalizer(networks_, network, kFinalizer, stop);
  plan_.forget(key);
  wake(plan_.release(key));
}

void NetworkController::wake(const std::vector<ObjectKey>& keys) const {
  for (const ObjectKey& key : keys) controller_.enqueue(key);
}

}  // namespace network
