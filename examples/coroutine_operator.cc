// An operator whose reconcile function is a coroutine: a thousand objects wait for something at the
// same time, on two threads.
//
//   coroutine_operator      a ConfigMap with the annotation example.com/copy-of: NAME gets the data
//                           of the ConfigMap NAME in its namespace, and follows its changes
#include <fmt/core.h>

#include "kube/base/when.h"
#include "kube/client/async_resource_client.h"
#include "kube/kube.h"

namespace {

using namespace std::chrono_literals;
using kube::ObjectKey;
using kube::corev1::ConfigMap;

constexpr const char* kCopyOf = "example.com/copy-of";

// The parameters are values, because they have to live until the coroutine has ended.
kube::Task<kube::Requeue> copy(kube::Clientset clients, kube::Lister<ConfigMap> cached,
                               ObjectKey key) {
  const auto found = cached.get(key);
  if (!found || !found->metadata.annotations.contains(kCopyOf)) co_return {};
  const auto maps = clients.coreV1().configMaps(key.namespace_).async();
  const std::string name = found->metadata.annotations[kCopyOf].str();
  const auto source = co_await kube::within(5s, maps.find(name));
  if (!source) co_return kube::Requeue::after(30s);
  if (source->data == found->data) co_return {};
  ConfigMap changed = *found;
  changed.data = source->data;
  co_await maps.update(changed);
  fmt::print("{} is a copy of {}\n", key, name);
  co_return {};
}

// The copies of a ConfigMap.
std::vector<ObjectKey> copiesOf(const kube::Lister<ConfigMap>& cached, const ConfigMap& source) {
  std::vector<ObjectKey> keys;
  for (const auto& map : cached.inNamespace(source.metadata.namespace_).list()) {
    const auto& annotations = map->metadata.annotations;
    if (annotations.contains(kCopyOf) && annotations[kCopyOf] == source.metadata.name) {
      keys.push_back(kube::keyOf(*map));
    }
  }
  return keys;
}

}  // namespace

int main() try {
  kube::Manager manager(kube::Config::load());
  auto& copies = manager.controller<ConfigMap>("copies");
  const auto cached = copies.lister();
  copies.watches<ConfigMap>([cached](const ConfigMap& source) { return copiesOf(cached, source); })
      .workers(2)
      .inFlight(1000)
      .reconcile([&manager, cached](const ObjectKey& key) -> kube::Task<kube::Requeue> {
        return copy(manager.clients(), cached, key);
      });
  manager.run(kube::signalStop());
} catch (const kube::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
