// Objects for a debugger. check.py has the expected output.
#include <optional>

#include "kube/api/core/v1.h"
#include "kube/codec/print.h"
#include "kube/meta/any_object.h"
#include "kube/meta/describe.h"
#include "kube/meta/value.h"

namespace shop {
struct Order {
  kube::String customer;
  kube::List<kube::String> items;
  std::optional<std::int32_t> priority;
};
}  // namespace shop
KUBE_DESCRIBE(shop::Order, customer, items, priority);

// The debugger stops here.
[[gnu::noinline]] void look(const kube::corev1::Pod& pod, const kube::corev1::Secret& secret,
                            const shop::Order& order, const kube::Value& value,
                            const kube::AnyObject& any) {
  asm volatile("" ::"r"(&pod), "r"(&secret), "r"(&order), "r"(&value), "r"(&any) : "memory");
}

int main() {
  kube::corev1::Pod pod;
  pod.metadata.name = "web-1";
  pod.metadata.labels = {{"app", "web"}, {"tier", "front"}};
  pod.metadata.creationTimestamp = kube::Time::fromUnix(1704164645);
  pod.spec->nodeName = "node-7";
  pod.spec->activeDeadlineSeconds = 30;
  kube::corev1::Container container;
  container.name = "main";
  container.image = "nginx";
  container.resources->limits["cpu"] = "500m";
  container.livenessProbe->httpGet->port = "http";
  pod.spec->containers = {container};

  kube::corev1::Secret secret;
  secret.metadata.name = "db";
  secret.data["password"] = "hunter2";

  const shop::Order order{.customer = "Ann", .items = {"tea", "jam"}, .priority = 3};
  const kube::Value value =
      kube::Value::Object{{"on", true}, {"sizes", kube::Value::Array{1, 2.5}}};
  look(pod, secret, order, value, kube::AnyObject(pod));
  return kube::printed(order).empty();
}
