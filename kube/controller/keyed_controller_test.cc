#include "kube/controller/keyed_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <compare>
#include <string>
#include <vector>

#include "kube/base/internal/logged_testing.h"
#include "kube/controller/controller_testing.h"
#include "kube/controller/manager.h"

namespace kube {
namespace {

struct Place {
  std::string zone = {};
  int rack = 0;

  std::string str() const { return zone + "#" + std::to_string(rack); }
  auto operator<=>(const Place&) const = default;
};

}  // namespace
}  // namespace kube

template <>
struct std::hash<kube::Place> {
  std::size_t operator()(const kube::Place& place) const noexcept {
    return std::hash<std::string>()(place.zone) + static_cast<std::size_t>(place.rack);
  }
};

namespace kube {
namespace {

using corev1::ConfigMap;
using corev1::Secret;
using ::testing::HasSubstr;
using testing::Logged;

class KeyedControllerTest : public testing::ControllerFixture {
 protected:
  ConfigMap mapIn(std::string_view name, std::string_view zone) const {
    ConfigMap object = map(name);
    object.data["zone"] = zone;
    return object;
  }
  static std::vector<Place> placeOf(const ConfigMap& map) { return {{map.data["zone"].str(), 1}}; }
};

TEST_F(KeyedControllerTest, KeysMayBeOfAnyType) {
  const Logged logged;
  maps("book").create(mapIn("a", "north"));
  Controller<ConfigMap, Place> controller("places", factory, {.metrics = &metrics});
  std::atomic<bool> first = true;
  controller.keyedBy(placeOf)
      .watches<Secret>([](const Secret&) -> std::vector<Place> {
        return {{"secret", 2}};
      })
      .reconcile([&](const ReconcileContext& context, const Place& place) {
        if (first.exchange(false)) throw Error("not yet");
        notes.add(place.str() + ": " + context.why());
      });
  const auto running = start(controller);
  notes.waitFor("north#1: ConfigMap book/a added (configmaps)");
  EXPECT_THAT(logged.text(), HasSubstr("retried: not yet controller=places object=north#1"));
  secrets().create(secret("s"));
  notes.waitFor("secret#2: Secret book/s added (secrets)");
  // An object that moves wakes both keys.
  ConfigMap object = maps("book").get("a");
  object.data["zone"] = "south";
  maps("book").update(object);
  notes.waitFor("north#1: ConfigMap book/a updated (configmaps)");
  notes.waitFor("south#1: ConfigMap book/a updated (configmaps)");
  const KeyChannel<Place> channel("pushed");
  controller.addSource(channel);
  channel.push({"west", 3});
  notes.waitFor("west#3: asked for (pushed)");
  controller.enqueue({"east", 4});
  notes.waitFor("east#4: asked for (enqueue)");
}

TEST_F(KeyedControllerTest, ObjectKeysMayBeOthersThanTheObjects) {
  Controller<ConfigMap> controller("maps", factory, real());
  controller
      .keyedBy([](const ConfigMap& map) -> std::vector<ObjectKey> {
        return {{"", map.metadata.namespace_}};
      })
      .reconcile([&](const ObjectKey& key) { notes.add(key); });
  const auto running = start(controller);
  create("a");
  notes.waitFor("book");
}

TEST_F(KeyedControllerTest, AManagerHasThemToo) {
  Manager manager(server.config(), {.metrics = &metrics});
  manager.controller<ConfigMap, String>("spaces")
      .keyedBy([](const ConfigMap& map) { return std::vector{map.metadata.namespace_}; })
      .reconcile([&](const String& space) -> Task<> {
        notes.add(space.str());
        co_return;
      });
  EXPECT_THROW(manager.controller<ConfigMap>("spaces"), Error);
  create("a");
  const testing::Running running([&](const std::stop_token& stop) { manager.run(stop); });
  notes.waitFor("book");
}

}  // namespace
}  // namespace kube
