#include "kube/client/pods/port_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/meta/api_error.h"

namespace kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::PortConnection;

class PortStreamTest : public PodServerTest {
 protected:
  /// A service that reads nothing until its client is gone.
  void deafService() {
    server.containers().port("book/web", 90, [](PortConnection& client) {
      std::promise<void> over;
      const std::stop_callback onStop(client.stop(), [&] { over.set_value(); });
      over.get_future().wait();
    });
  }
};

std::string rest(PortStream& stream) {
  std::string heard;
  while (const auto bytes = stream.read()) heard += *bytes;
  return heard;
}

TEST_F(PortStreamTest, BytesGoBothWaysAndBothSidesEndTheirOutput) {
  server.containers().port("book/web", 91, [](PortConnection& client) {
    std::string heard;
    while (const auto piece = client.read()) heard += *piece;
    client.write("heard " + heard);
  });
  auto stream = pods().openPort("web", 91);
  EXPECT_TRUE(stream.write("all "));
  EXPECT_TRUE(stream.write("of it"));
  EXPECT_TRUE(stream.endOutput());
  EXPECT_FALSE(stream.write("late"));
  EXPECT_EQ(rest(stream), "heard all of it");
}

TEST_F(PortStreamTest, OneThreadReadsWhileAnotherWrites) {
  constexpr std::size_t kBlocks = 16, kBlock = 1 << 20;
  auto stream = pods().openPort("web", 7);
  Checksum sent, heard;
  {
    const std::jthread writer([&] {
      NoiseSource noise;
      for (std::size_t i = 0; i < kBlocks; ++i) {
        const std::string block = noise.next(kBlock);
        sent.add(block);
        EXPECT_TRUE(stream.write(block));
      }
    });
    for (std::size_t left = kBlocks * kBlock; left > 0;) {
      const auto bytes = stream.read();
      if (!bytes) break;
      heard.add(*bytes);
      left -= bytes->size();
    }
  }
  EXPECT_EQ(heard.hex(), sent.hex());
}

TEST_F(PortStreamTest, FailsForARefusedPortAndAMissingPod) {
  auto stream = pods().openPort("web", 99);
  EXPECT_THAT(thrown<TransportError>([&] { stream.read(); }),
              AllOf(HasSubstr("port 99"), HasSubstr("connection refused")));
  EXPECT_FALSE(stream.write("x"));
  EXPECT_THAT(thrown<ApiError>([&] { pods().openPort("nobody", 7); }), HasSubstr("not found"));
}

TEST_F(PortStreamTest, AStopEndsReadingAndWriting) {
  deafService();
  std::stop_source stop;
  auto stream = pods().openPort("web", 90, stop.get_token());
  auto read = std::async(std::launch::async, [&] { stream.read(); });
  auto write = std::async(std::launch::async, [&] { stream.write(std::string(64 << 20, 'x')); });
  stop.request_stop();
  EXPECT_THROW(read.get(), CanceledError);
  EXPECT_THROW(write.get(), CanceledError);
  EXPECT_THROW(pods().openPort("web", 90, stop.get_token()), CanceledError);
}

TEST_F(PortStreamTest, DestroyingTheStreamClosesIt) {
  std::promise<void> closed;
  server.containers().port("book/web", 91, [&](PortConnection& client) {
    while (client.read()) {
    }
    closed.set_value();
  });
  auto stream = pods().openPort("web", 91);
  EXPECT_TRUE(stream.write("x"));
  stream = pods().openPort("web", 7);
  EXPECT_EQ(closed.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_TRUE(stream.write("y"));
  EXPECT_EQ(stream.read(), "y");
}

}  // namespace
}  // namespace kube
