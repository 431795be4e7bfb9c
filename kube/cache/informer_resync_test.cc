// Resyncs while objects change.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "kube/cache/internal/seen_testing.h"
#include "kube/cache/shared_informer.h"
#include "kube/testing/api_server_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using testing::eventually;
using testing::Seen;

class InformerResyncTest : public testing::ApiServerTest {};

// The handler is called by the resync, between two objects. Meanwhile the other object is deleted.
TEST_F(InformerResyncTest, RepeatsNoObjectThatIsGone) {
  makeNamespace("book");
  maps("book").create(map("a"));
  maps("book").create(map("b"));
  FakeClock clock;
  const SharedInformer<ConfigMap> informer(ListWatch<ConfigMap>::fromClient(maps("book")),
                                           {.resync = 10s, .clock = &clock});
  Seen seen;
  std::atomic<int> repeated = 0;
  EventHandler<ConfigMap> handler = seen.handler();
  handler.onUpdate = [&, update = handler.onUpdate](auto before, auto after) {
    update(before, after);
    if (++repeated != 1) return;
    const std::string other = after->metadata.name == "a" ? "b" : "a";
    maps("book").remove(other);
    EXPECT_TRUE(eventually([&] { return informer.store().size() == 1; }));
  };
  informer.addHandler(std::move(handler), {.quick = true});
  std::jthread runner([&](const std::stop_token& stop) { informer.run(stop); });
  ASSERT_TRUE(informer.waitForSync());
  ASSERT_TRUE(seen.waitUntil([&] { return seen.added == 2; }));
  EXPECT_TRUE(eventually([&] {
    clock.advance(10s);
    return repeated >= 1;
  }));
  EXPECT_TRUE(seen.waitUntil([&] { return seen.deleted == 1; }));
  EXPECT_TRUE(eventually([&] {
    clock.advance(10s);
    return repeated >= 3;
  }));
  EXPECT_EQ(seen.wrong(), "");
}

}  // namespace
}  // namespace kube
