// Recovery of a reflector whose server is away, fails, or was restarted: when it tries again, and
// how.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "kube/cache/internal/reflector_script_testing.h"

namespace kube {
namespace {

using namespace scripted;

TEST(ReflectorRecoveryTest, AWatchThatWorkedAndBreaksIsResumedAtOnce) {
  Rig rig;
  const auto later = [&] { rig.clock.advance(2s); };
  rig.script.list({{}, "5"})
      .watch(
          {.events = {event(EventType::Added, "a", "6")}, .error = thrown(TransportError("cut"))})
      .watch({.error = thrown(TransportError("quiet, but not for long")), .before = later})
      .watch({.error = thrown(TimeoutError("the time of all requests")), .before = later})
      .watch({.stays = true});
  rig.run();  // without any pause
  rig.end();
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=500", "watch rv=5", "watch rv=6",
                                              "watch rv=6", "watch rv=6"));
  EXPECT_THAT(rig.errors, ElementsAre("cut", "quiet, but not for long"));
}

// As with a load balancer that ends connections after a while.
TEST(ReflectorRecoveryTest, PausesDoNotGrowByWatchesThatWork) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 6; i < 40; ++i) {
    rig.script.watch({.events = {event(EventType::Added, "a", std::to_string(i))},
                      .error = thrown(TransportError("cut")),
                      .before = [&rig, i] { rig.clock.advance(i % 2 == 0 ? 5s : 250ms); }});
  }
  rig.script.watch({.stays = true});
  rig.run();
  rig.end();
  EXPECT_EQ(rig.script.calls().back(), "watch rv=39");
}

// The calls that a server receives in two minutes if it accepts each watch and cuts it at once.
TEST(ReflectorRecoveryTest, AStormOfBrokenWatchesIsBounded) {
  for (const bool withEvents : {false, true}) {
    Rig rig;
    for (int i = 0; i < 400; ++i) {
      if (!withEvents && i % 3 == 0) rig.script.list({{}, "5"});
      if (withEvents && i == 0) rig.script.list({{}, "5"});
      Script::Watch watch{.error = thrown(TransportError("cut"))};
      if (withEvents) watch.events = {event(EventType::Added, "a", std::to_string(i + 6))};
      rig.script.watch(std::move(watch));
    }
    rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
    for (int i = 0; i < 1200; ++i) {
      rig.clock.waitForWaiters(1);
      rig.clock.advance(100ms);
    }
    rig.clock.waitForWaiters(1);
    rig.end();
    EXPECT_LE(rig.script.calls().size(), withEvents ? 260U : 40U);
    EXPECT_GE(rig.script.calls().size(), withEvents ? 100U : 8U);
  }
}

// A server that is away is tried at a steady, quick rhythm, so that its return is noticed soon.
TEST(ReflectorRecoveryTest, AServerThatIsAwayIsTriedAboutOnceASecond) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 0; i < 400; ++i) {
    // First as with a proxy that accepts connections and cuts them at once, then as without a
    // listener.
    rig.script.watch({.refused = i < 5 ? thrown(TransportError("reset")) : unreachable()});
  }
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 120; ++i) {
    rig.clock.waitForWaiters(1);
    const auto before = rig.script.calls().size();
    for (int part = 0; part < 10; ++part) {
      rig.clock.waitForWaiters(1);
      rig.clock.advance(100ms);
    }
    rig.clock.waitForWaiters(1);
    if (i > 1) {
      EXPECT_GE(rig.script.calls().size(), before + 1) << i;
      EXPECT_LE(rig.script.calls().size(), before + 3) << i;
    }
  }
  rig.end();
  EXPECT_THAT(rig.script.calls()[0], "list rv=0 limit=500");
  EXPECT_THAT(rig.script.calls().back(), "watch rv=5");  // no list
}

// Connections that break in the middle of requests may be caused by the requests.
TEST(ReflectorRecoveryTest, AListThatAlwaysBreaksOffIsAskedForLessOften) {
  Rig rig;
  for (int i = 0; i < 400; ++i) rig.script.list({.error = thrown(TransportError("cut"))});
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 3000; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(100ms);
  }
  rig.clock.waitForWaiters(1);
  rig.end();
  EXPECT_GE(rig.script.calls().size(), 20U);
  EXPECT_LE(rig.script.calls().size(), 35U);
}

TEST(ReflectorRecoveryTest, NewCredentialsAreWaitedForWithoutAList) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 0; i < 10; ++i) {
    rig.script.watch({.refused = thrown(ApiError(status::unauthorized("expired")))});
  }
  rig.script.watch({.stays = true});
  rig.run(10);
  rig.end();
  EXPECT_EQ(rig.script.calls().size(), 12U);
}

TEST(ReflectorRecoveryTest, NewCredentialsAreFoundSoonHoweverLateTheyCome) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 0; i < 40; ++i) {
    rig.script.watch({.refused = thrown(ApiError(status::unauthorized("expired")))});
  }
  rig.script.watch({.stays = true});
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 40; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(5s);
  }
  rig.script.waitForEnd();
  rig.end();
  EXPECT_EQ(rig.script.calls().size(), 42U);
}

TEST(ReflectorRecoveryTest, WithoutAServerTheWatchIsTriedAgainAndNothingListed) {
  Rig rig;
  rig.script.list({{podAt("a", "1")}, "5"})
      .watch({.refused = unreachable()})
      .watch({.refused = unreachable()})
      .watch({.refused = thrown(ApiError(status::tooManyRequests("busy", 1)))})
      .watch({.events = {failure(status::tooManyRequests("busy", 1))}})
      .watch({.stays = true});
  rig.run(4);
  rig.end();
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=500", "watch rv=5", "watch rv=5",
                                              "watch rv=5", "watch rv=5", "watch rv=5"));
  EXPECT_EQ(rig.errors.size(), 4U);
}

TEST(ReflectorRecoveryTest, AServerThatAsksForATimeGetsIt) {
  Rig rig;
  rig.script.list({.error = thrown(ApiError(status::tooManyRequests("busy", 3600)))})
      .list({{}, "5"})
      .watch({.refused = thrown(ApiError(status::tooManyRequests("busy", 3600)))})
      .watch({.stays = true});
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 2; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(3599s);
    EXPECT_EQ(rig.clock.waiters(), 1U);  // still waiting
    rig.clock.advance(2s);
  }
  rig.script.waitForEnd();
  rig.end();
}

// A starting server asks for a second each time; clients must not all return at once.
TEST(ReflectorRecoveryTest, ATimeThatIsAskedForAgainAndAgainDoesNotGrow) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 0; i < 10; ++i) {
    rig.script.watch({.refused = thrown(ApiError(status::tooManyRequests("starting", 1)))});
  }
  rig.script.watch({.stays = true});
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 10; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(1100ms);
  }
  rig.script.waitForEnd();
  rig.end();
}

TEST(ReflectorRecoveryTest, AnExpiredVersionMeansANewList) {
  for (const bool inStream : {true, false}) {
    Rig rig;
    rig.script.list({{podAt("a", "1"), podAt("b", "1")}, "5"});
    if (inStream) {
      rig.script.watch({.events = {failure(status::expired("too old"))}});
    } else {
      rig.script.watch({.refused = thrown(ApiError(status::gone("too old")))});
    }
    rig.script.list({{podAt("b", "8")}, "9"}).watch({.stays = true});
    rig.run(1);
    rig.end();
    EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=500", "watch rv=5",
                                                "list rv=5 limit=0", "watch rv=9"));
    EXPECT_THAT(namesIn(rig.store), ElementsAre("b@8"));
  }
}

// A server that was restarted refuses the old version once.
TEST(ReflectorRecoveryTest, AnExpiredVersionIsListedAnewSoonButNotForEver) {
  Rig rig;
  for (int i = 5; i < 30; ++i) {
    rig.script.list({{}, std::to_string(i)})
        .watch({.refused = thrown(ApiError(status::gone("too old")))});
  }
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  for (int i = 0; i < 6; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(100ms);
  }
  rig.clock.waitForWaiters(1);
  EXPECT_EQ(rig.script.calls().size(), 6U);
  for (int i = 0; i < 600; ++i) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(100ms);
  }
  rig.clock.waitForWaiters(1);
  rig.end();
  EXPECT_LE(rig.script.calls().size(), 20U);
}

TEST(ReflectorRecoveryTest, AVersionThatTheServerCannotListIsDropped) {
  metav1::Status tooLarge = status::timeout("Too large resource version: 9, current: 3", 1);
  for (const metav1::Status& refusal :
       {status::expired("too old"), status::gone("too old"), tooLarge}) {
    Rig rig;
    rig.script.list({{podAt("a", "1")}, "5"})
        .watch({.error = thrown(ApiError(status::internalError("x")))})
        .list({.error = thrown(ApiError(refusal))})
        .list({{podAt("a", "2")}, "3"})
        .watch({.error = thrown(ApiError(status::internalError("x")))})
        .list({{podAt("a", "4")}, "4"});
    rig.round();
    rig.round();
    rig.round();
    EXPECT_THAT(rig.script.calls(),
                ElementsAre("list rv=0 limit=500", "watch rv=5", "list rv=5 limit=0",
                            "list rv= limit=500", "watch rv=3", "list rv=3 limit=0", "watch rv=4"));
    EXPECT_THAT(namesIn(rig.store), ElementsAre("a@4"));
  }
}

TEST(ReflectorRecoveryTest, TheLatestVersionIsAskedForAgainIfThatFails) {
  Rig rig;
  rig.script.list({.error = thrown(ApiError(status::expired("too old")))})
      .list({.error = thrown(ApiError(status::expired("too old")))})
      .list({.error = thrown(ApiError(status::expired("too old")))});
  EXPECT_THAT(rig.round(), HasSubstr("too old"));
  EXPECT_THAT(rig.round(), HasSubstr("too old"));
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("list rv=0 limit=500", "list rv= limit=500", "list rv= limit=500"));
}

// A restarted server has no versions before its first, and would answer a page of exactly that
// version.
TEST(ReflectorRecoveryTest, PagesAreOfAVersionThatIsNotOlder) {
  Rig rig({.streamList = false, .pageSize = 2});
  rig.script.list({{podAt("a", "1")}, "5", "x"})
      .list({{}, "5"})
      .watch({.refused = thrown(ApiError(status::expired("too old")))})
      .list({{podAt("a", "7")}, "9", "y"})
      .list({{}, "9"})
      .watch({.error = thrown(ApiError(status::internalError("end")))});
  rig.round();
  rig.round();
  EXPECT_THAT(rig.script.calls(), ElementsAre("list rv=0 limit=2", "list rv= limit=2 continue=x",
                                              "watch rv=5", "list rv=5 limit=2 NotOlderThan",
                                              "list rv= limit=2 continue=y", "watch rv=9"));
}

// Even if the server misunderstands NotOlderThan.
TEST(ReflectorRecoveryTest, AVersionThatExpiresTwiceIsNotListedAgain) {
  Rig rig({.streamList = false, .pageSize = 2});
  const auto expired = thrown(ApiError(status::expired("too old")));
  rig.script.list({{podAt("a", "1")}, "5"})
      .watch({.refused = expired})
      .list({{podAt("a", "1")}, "5"})
      .watch({.events = {failure(status::expired("too old"))}})
      .list({{podAt("a", "8")}, "9"})
      .watch({.error = thrown(ApiError(status::internalError("end")))});
  for (int i = 0; i < 3; ++i) rig.round();
  EXPECT_THAT(rig.script.calls(),
              ElementsAre("list rv=0 limit=2", "watch rv=5", "list rv=5 limit=2 NotOlderThan",
                          "watch rv=5", "list rv= limit=2", "watch rv=9"));
}

TEST(ReflectorRecoveryTest, AVeryShortWatchIsAFailure) {
  Rig rig;
  rig.script.list({{}, "5"}).watch({});
  EXPECT_THAT(rig.round(), HasSubstr("within a second"));
}

// A watch that ends right after an event is no failure, but must not be repeated in a tight loop.
TEST(ReflectorRecoveryTest, AServerThatEndsWatchesIsNotAskedAllTheTime) {
  Rig rig;
  rig.script.list({{}, "5"});
  for (int i = 1; i < 9; ++i) {
    rig.script.watch({.events = {event(EventType::Added, "a", std::to_string(i))}});
  }
  rig.script.watch({.stays = true});
  rig.run(3);
  rig.end();
  EXPECT_THAT(rig.errors, IsEmpty());
  EXPECT_EQ(rig.script.calls().back(), "watch rv=8");
}

TEST(ReflectorRecoveryTest, PausesGrowAndStartOver) {
  Rig rig;
  for (int i = 0; i < 8; ++i) {
    rig.script.list({.error = thrown(ApiError(status::serviceUnavailable("no")))});
  }
  rig.thread = std::jthread([&](const std::stop_token& stop) { rig.reflector->run(stop); });
  // Each pause is between its base and twice that.
  for (const auto base : {800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms}) {
    rig.clock.waitForWaiters(1);
    rig.clock.advance(base - 1ms);
    EXPECT_EQ(rig.clock.waiters(), 1U) << base.count();
    rig.clock.advance(base + 1ms);
  }
  rig.clock.waitForWaiters(1);
  rig.script.waitForEnd();
  EXPECT_EQ(rig.errors.size(), 8U);
  // Two minutes later the pauses start over.
  rig.clock.advance(60s);
  rig.clock.waitForWaiters(1);
  rig.end();
}

}  // namespace
}  // namespace kube
