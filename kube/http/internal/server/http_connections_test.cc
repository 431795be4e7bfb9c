#include "kube/http/internal/server/http_connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <boost/asio/io_context.hpp>

namespace kube::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TableEntry final : public Closable {
 public:
  using Closable::Closable;
  boost::asio::any_io_executor executor() const override { return {}; }
  void shutDown() override {}
  void close() override {}
};

class ConnectionTableTest : public ::testing::Test {
 protected:
  std::shared_ptr<TableEntry> add(Stage stage, std::chrono::milliseconds ago, PeerKey peer = 1) {
    auto made = std::make_shared<TableEntry>(peer);
    made->standing().set(stage, now - ago, ServerTime::max());
    EXPECT_TRUE(table.add(made));
    return made;
  }
  Closable* next() {
    const auto chosen = table.leastNeeded(now);
    return chosen.empty() ? nullptr : chosen.front().get();
  }

  const ServerTime now = std::chrono::steady_clock::now();
  ConnectionTable table{64ms};
};

TEST_F(ConnectionTableTest, TheLeastNeededGoesFirst) {
  const auto streaming = add(Stage::Streaming, 9h), working = add(Stage::Working, 1h),
             youngFresh = add(Stage::Fresh, 100ms), youngSilent = add(Stage::Silent, 100ms),
             sending = add(Stage::Sending, 1ms), idle = add(Stage::Idle, 1ms),
             laterIdle = add(Stage::Idle, 0ms), fresh = add(Stage::Fresh, 2s),
             silent = add(Stage::Silent, 1s), olderSilent = add(Stage::Silent, 3s),
             leaving = add(Stage::Leaving, 0ms);
  for (const auto& expected : {leaving, olderSilent, silent, fresh, idle, laterIdle, sending,
                               youngSilent, youngFresh, working}) {
    EXPECT_EQ(next(), expected.get());
  }
  EXPECT_EQ(next(), nullptr) << "what streams stays";
}

TEST_F(ConnectionTableTest, ThePeerWithTheMostLosesThem) {
  const auto other = add(Stage::Silent, 1h, 2);
  const auto one = add(Stage::Working, 1s), two = add(Stage::Idle, 1s);
  EXPECT_EQ(next(), two.get());
  table.remove(two.get());
  EXPECT_EQ(next(), other.get()) << "now they have one each";
  const auto third = add(Stage::Idle, 1h, 3), newborn = add(Stage::Silent, 1ms, 4),
             twin = add(Stage::Silent, 1ms, 4);
  EXPECT_EQ(table.makeRoom(3, now).what, ConnectionTable::Room::For::NoneNow)
      << "the peer with the most has to lose one, but not yet";
}

TEST_F(ConnectionTableTest, MakesRoomForOneMore) {
  using For = ConnectionTable::Room::For;
  const auto a = add(Stage::Idle, 3s), b = add(Stage::Idle, 2s), c = add(Stage::Idle, 1s);
  EXPECT_THAT(table.makeRoom(4, now).leaving, IsEmpty());
  EXPECT_FALSE(table.hasRoom(3));
  EXPECT_THAT(table.makeRoom(3, now).leaving, ElementsAre(a));
  EXPECT_TRUE(table.hasRoom(3)) << "that one counts no longer";
  EXPECT_THAT(table.makeRoom(3, now).leaving, IsEmpty());
  EXPECT_THAT(table.makeRoom(1, now).leaving, ElementsAre(b, c));
  EXPECT_EQ(table.size(), 3u);
  for (const auto& gone : {a, b, c}) table.remove(gone.get());
  EXPECT_TRUE(table.waitUntilEmpty(0ms));
  const auto stream = add(Stage::Streaming, 1s);
  EXPECT_EQ(table.makeRoom(1, now).what, For::None);
  const auto newborn = add(Stage::Silent, 10ms), other = add(Stage::Fresh, 20ms);
  EXPECT_EQ(table.makeRoom(3, now).what, For::NoneNow);
  EXPECT_EQ(table.makeRoom(1, now).what, For::NoneNow);
  const auto stuck = add(Stage::Sending, 50ms);
  EXPECT_THAT(table.makeRoom(4, now).leaving, ElementsAre(stuck)) << "it is not on its way";
  table.remove(stuck.get());
  EXPECT_THAT(table.makeRoom(3, now + 100ms).leaving, ElementsAre(newborn));
  EXPECT_THAT(table.makeRoom(2, now, true).leaving, ElementsAre(other));
}

TEST_F(ConnectionTableTest, AConnectionInItsNextStageIsTheSame) {
  const auto welcome = add(Stage::Silent, 1s), other = add(Stage::Idle, 1s);
  EXPECT_EQ(next(), welcome.get());
  const auto session = std::make_shared<TableEntry>(1);
  table.replace(welcome.get(), session);
  table.remove(welcome.get());
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(next(), other.get()) << "the session is leaving already";
  EXPECT_EQ(next(), nullptr);
}

TEST_F(ConnectionTableTest, TellsWhichHaveTakenTooLongAndWhichHoldTheMost) {
  const auto late = add(Stage::Idle, 1s), large = add(Stage::Sending, 1s),
             larger = add(Stage::Sending, 1s);
  late->standing().set(Stage::Idle, now - 1s, now);
  large->standing().setUnsent(100);
  larger->standing().setUnsent(200);
  EXPECT_THAT(table.overdue(now), ElementsAre(late));
  EXPECT_THAT(table.mostUnsentBut(larger.get()), ElementsAre(large));
  EXPECT_THAT(table.mostUnsentBut(nullptr), ElementsAre(larger));
  EXPECT_THAT(table.mostUnsentBut(nullptr), IsEmpty()) << "both are leaving";
}

TEST(PeerKeyTest, IsAnAddressOrASitesHalfOfOne) {
  sockaddr_storage v4{}, other{}, v6{}, mapped{};
  const auto number = [](sockaddr_storage& address) -> sockaddr_in6& {
    address.ss_family = AF_INET6;
    return reinterpret_cast<sockaddr_in6&>(address);
  };
  v4.ss_family = other.ss_family = AF_INET;
  reinterpret_cast<sockaddr_in&>(v4).sin_addr.s_addr = htonl(0x0a000001);
  reinterpret_cast<sockaddr_in&>(other).sin_addr.s_addr = htonl(0x0a000002);
  EXPECT_NE(peerKey(v4), peerKey(other));
  const unsigned char text[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  std::copy(std::begin(text), std::end(text), number(mapped).sin6_addr.s6_addr);
  EXPECT_EQ(peerKey(v4), peerKey(mapped));
  number(v6).sin6_addr.s6_addr[0] = 0x20;
  const PeerKey site = peerKey(v6);
  number(v6).sin6_addr.s6_addr[15] = 7;
  EXPECT_EQ(peerKey(v6), site);
  number(v6).sin6_addr.s6_addr[7] = 7;
  EXPECT_NE(peerKey(v6), site);
}

}  // namespace
}  // namespace kube::detail
