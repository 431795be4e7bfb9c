// An operator that reads from the cache and writes to the server, and sees its own writes.
//
//   cached_client      gives each ConfigMap with the label example.com/numbered a number of its own
//                      within its namespace, as an annotation
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "kube/kube.h"

namespace {

using kube::ObjectKey;
using kube::corev1::ConfigMap;

constexpr const char* kNumbered = "example.com/numbered";
constexpr const char* kNumber = "example.com/number";

// 0 if it has none.
int numberOf(const ConfigMap& map) {
  return std::atoi(map.metadata.annotations[kNumber].str().c_str());
}

// With a cache that lags behind, two maps could get the same number: the list would not show the
// number that was given a moment ago.
void number(const kube::CachedClient& client, const ObjectKey& key) {
  const auto maps = client.resource<ConfigMap>(key.namespace_);
  auto map = maps.find(key.name);
  if (!map || numberOf(*map) != 0) return;
  int highest = 0;
  for (const auto& other : maps.list({.labelSelector = kNumbered})) {
    highest = std::max(highest, numberOf(*other));
  }
  map->metadata.annotations[kNumber] = std::to_string(highest + 1);
  maps.update(*map);
  fmt::print("{} is number {}\n", key, highest + 1);
}

}  // namespace

int main() try {
  const kube::CachedClientOptions reads{
      .kinds = {{kube::gvkOf<kube::corev1::Secret>(), kube::ReadPolicy::Live}}};
  kube::Manager manager(kube::Config::load(), {.client = reads});
  manager.controller<ConfigMap>("numbers")
      .when(kube::labelsMatch(kNumbered))
      .reconcile([&](const ObjectKey& key) { number(manager.client(), key); });
  manager.run(kube::signalStop());
} catch (const kube::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
