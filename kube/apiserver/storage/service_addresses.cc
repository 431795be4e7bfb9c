#include "kube/apiserver/storage/service_addresses.h"

#include <fmt/core.h>

#include <set>

#include "kube/api/core/v1.h"
#include "kube/apiserver/rules/built_in_rules.h"

namespace kube::apiserver {

namespace {

// kube-apiserver's default ranges: 10.0.0.0/24, made larger, and 30000-32767.
constexpr int kAddresses = 1 << 16;
constexpr std::int32_t kFirstPort = 30000, kLastPort = 32767;

}  // namespace

void giveAddresses(AnyObject& object, const Storage& storage, const Collection& services) {
  if (object.as<corev1::Service>() == nullptr) return;
  std::set<String> addresses;
  std::set<std::int32_t> ports;
  const auto note = [&](const corev1::Service& service) {
    const auto& spec = *service.spec;
    addresses.insert(spec.clusterIP);
    ports.insert(spec.healthCheckNodePort);
    for (const corev1::ServicePort& port : spec.ports) ports.insert(port.nodePort);
  };
  for (const ObjectPtr& one : storage.list(services, {}).objects) {
    if (const auto* service = one->object().as<corev1::Service>()) note(*service);
  }
  note(*std::as_const(object).as<corev1::Service>());
  ServiceAllocator allocator;
  allocator.clusterIP = [&]() -> String {
    for (int i = 1; i < kAddresses; ++i) {
      const std::string address = fmt::format("10.0.{}.{}", i >> 8, i & 0xff);
      if (addresses.insert(address).second) return address;
    }
    return {};
  };
  allocator.nodePort = [&]() -> std::int32_t {
    for (std::int32_t port = kFirstPort; port <= kLastPort; ++port) {
      if (ports.insert(port).second) return port;
    }
    return 0;
  };
  allocateForService(object, allocator);
}

}  // namespace kube::apiserver
