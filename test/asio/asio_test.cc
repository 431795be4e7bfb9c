#include "kube/asio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#if defined(BOOST_ASIO_HAS_CO_AWAIT)
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#endif
#if BOOST_VERSION >= 107700
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#endif
#if BOOST_VERSION >= 108100
#include <boost/asio/deferred.hpp>
#endif

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "kube/base/error.h"
#include "kube/base/internal/error_of_testing.h"
#include "kube/base/task_scope.h"
#include "kube/base/when.h"
#include "kube/client/async_resource_client.h"
#include "kube/client/core/v1.h"
#include "kube/testing/api_server.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using corev1::ConfigMap;
using testing::ApiServer;
using ::testing::HasSubstr;
namespace io = boost::asio;

Task<int> number(int n) { co_return n; }
Task<int> later(Clock& clock, int n) {
  const bool slept = co_await sleepFor(1h, clock);
  if (!slept) throw CanceledError("later: canceled");
  co_return n;
}
Task<> failing() {
  throw Error("no luck");
  co_return;
}
Task<std::thread::id> threadAfterWait() {
  co_await sleepFor(1ms);
  co_return std::this_thread::get_id();
}

std::string textOf(const std::exception_ptr& error) {
  if (!error) return "";
  return errorOf<Error>([&] { std::rethrow_exception(error); });
}

TEST(AsioTest, CallsAFunction) {
  io::io_context context;
  int result = 0;
  std::string error;
  asio::await(context, number(7), [&](std::exception_ptr, int n) { result = n; });
  asio::await(context, failing(), [&](std::exception_ptr failed) { error = textOf(failed); });
  EXPECT_EQ(result, 0);  // not where it begins
  context.run();
  EXPECT_EQ(result, 7);
  EXPECT_EQ(error, "no luck");
}

TEST(AsioTest, ATaskIsOutstandingWork) {
  io::io_context context;
  std::thread::id ran;
  asio::await(context, threadAfterWait(),
              [&](std::exception_ptr, std::thread::id id) { ran = id; });
  context.run();
  EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(AsioTest, UsesTheExecutorOfTheHandler) {
  io::io_context mine, other;
  bool called = false;
  asio::await(
      mine, threadAfterWait(),
      io::bind_executor(other, [&](std::exception_ptr, std::thread::id) { called = true; }));
  mine.run();
  EXPECT_FALSE(called);
  other.run();
  EXPECT_TRUE(called);

  called = false;
  other.restart();
  asio::await(number(1), io::bind_executor(other, [&](std::exception_ptr, int) { called = true; }));
  other.run();
  EXPECT_TRUE(called);
}

TEST(AsioTest, ReturnsAFuture) {
  io::io_context context;
  std::future<int> result = asio::await(context, number(7), io::use_future);
  std::future<void> failed = asio::await(context, failing(), io::use_future);
  std::thread thread([&] { context.run(); });
  EXPECT_EQ(result.get(), 7);
  EXPECT_EQ(errorOf<Error>([&] { failed.get(); }), "no luck");
  thread.join();
}

TEST(AsioTest, RunsOnAStrandOfAThreadPool) {
  io::thread_pool pool(3);
  const auto strand = io::make_strand(pool.get_executor());
  int count = 0;  // guarded by the strand
  std::vector<std::future<void>> done;
  const auto hops = [](int& counted) -> Task<> {
    for (int i = 0; i < 20; ++i) {
      auto work = [](const std::stop_token&) {};
      co_await detail::onThread(std::move(work));
      ++counted;
    }
  };
  for (int i = 0; i < 20; ++i) {
    auto promise = std::make_shared<std::promise<void>>();
    done.push_back(promise->get_future());
    asio::await(strand, hops(count), [promise](std::exception_ptr) { promise->set_value(); });
  }
  for (auto& each : done) each.get();
  pool.join();
  EXPECT_EQ(count, 400);
}

struct Odd {
  explicit Odd(int n) : value(n) {}
  int value;
};
Task<Odd> odd(bool fails) {
  if (fails) throw Error("no luck");
  co_return Odd(3);
}

TEST(AsioTest, AResultWithoutDefaultIsOptional) {
  io::io_context context;
  std::optional<Odd> result;
  std::string error;
  asio::await(context, odd(false),
              [&](std::exception_ptr, std::optional<Odd> value) { result = value; });
  asio::await(context, odd(true), [&](std::exception_ptr failed, std::optional<Odd> value) {
    EXPECT_FALSE(value.has_value());
    error = textOf(failed);
  });
  context.run();
  EXPECT_EQ(result->value, 3);
  EXPECT_EQ(error, "no luck");
}

TEST(AsioTest, ExceptionsOfAHandlerLeaveRun) {
  io::io_context context;
  asio::await(context, number(7), [](std::exception_ptr, int) { throw Error("from the handler"); });
  EXPECT_EQ(errorOf<Error>([&] { context.run(); }), "from the handler");
}

TEST(AsioTest, TheContextDestroysWhatIsLeft) {
  FakeClock clock;
  ApiServer server;
  const Clientset clients(server.config());
  server.inject({.verb = "get", .hang = true});
  const auto life = std::make_shared<int>(1);
  {
    io::io_context context;
    asio::await(context, later(clock, 1), [life](std::exception_ptr, int) { FAIL(); });
    asio::await(context, clients.coreV1().configMaps("default").async().get("a"),
                [life](std::exception_ptr, ConfigMap) { FAIL(); });
    context.poll();
    EXPECT_EQ(clock.waiters(), 1U);
    asio::await(context, later(clock, 1), [life](std::exception_ptr, int) { FAIL(); });
    clock.advance(1h);  // one would go on
  }
  EXPECT_EQ(life.use_count(), 1);
  EXPECT_EQ(clock.waiters(), 0U);
}

TEST(AsioTest, TheContextDestroysTasksWhoseAnswersArrive) {
  ApiServer server;
  const Clientset clients(server.config());
  const auto maps = clients.coreV1().configMaps("default").async();
  for (int round = 0; round < 20; ++round) {
    io::io_context context;
    for (int i = 0; i < 10; ++i) {
      asio::await(context, maps.find("none"), [](std::exception_ptr, std::optional<ConfigMap>) {});
    }
    for (int i = 0; i < round * 3; ++i) context.run_one();
  }
}

TEST(AsioTest, TasksOfAScopeRunOnIt) {
  io::io_context context;
  TaskScope scope(asio::executor(context));
  std::atomic<int> count = 0;
  const auto add = [](std::atomic<int>& counted) -> Task<> {
    co_await sleepFor(1ms);
    ++counted;
  };
  for (int i = 0; i < 10; ++i) scope.start(add(count));
  asio::await(context, scope.join(), [&](std::exception_ptr) { context.stop(); });
  context.run();
  EXPECT_EQ(count, 10);
}

#if BOOST_VERSION >= 107700
TEST(AsioTest, ACancellationSlotStopsTheTask) {
  FakeClock clock;
  io::io_context context;
  io::cancellation_signal signal;
  std::string error;
  asio::await(context, later(clock, 1),
              io::bind_cancellation_slot(
                  signal.slot(), [&](std::exception_ptr failed, int) { error = textOf(failed); }));
  context.poll();
  signal.emit(io::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(error, "later: canceled");
  signal.emit(io::cancellation_type::terminal);  // nothing is left
}
#endif

#if BOOST_VERSION >= 108100
TEST(AsioTest, MakesADeferredOperation) {
  io::io_context context;
  int result = 0;
  auto operation = asio::await(context, number(7), io::deferred);
  std::move(operation)([&](std::exception_ptr, int n) { result = n; });
  context.run();
  EXPECT_EQ(result, 7);
}
#endif

#if defined(BOOST_ASIO_HAS_CO_AWAIT)
io::awaitable<std::string> callsFromAsio(AsyncResourceClient<ConfigMap> maps) {
  ConfigMap map;
  map.metadata.name = "a";
  co_await asio::await(maps.create(map));
  ConfigMap read = co_await asio::await(maps.get("a"), io::use_awaitable);
  auto [first, second] = co_await asio::await(whenAll(maps.find("a"), maps.find("none")));
  std::string text =
      fmt::format("{} {} {}", read.metadata.name, first.has_value(), second.has_value());
  auto watch = co_await asio::await(maps.watch());
  const auto event = co_await asio::await(watch.next());
  if (event) text += fmt::format(" {}", event->type);
  try {
    co_await asio::await(maps.get("none"));
  } catch (const ApiError& error) {
    text += isNotFound(error) ? " not found" : " odd";
  }
  co_return text;
}

TEST(AsioTest, IsAwaitedByCoroutinesOfAsio) {
  ApiServer server;
  const Clientset clients(server.config());
  io::io_context context;
  std::string result;
  io::co_spawn(
      context, callsFromAsio(clients.coreV1().configMaps("default").async()),
      [&](std::exception_ptr error, std::string text) { result = error ? textOf(error) : text; });
  context.run();
  EXPECT_EQ(result, "a true false ADDED not found");
}

TEST(AsioTest, TheContextDestroysCoroutinesThatAwaitTasks) {
  FakeClock clock;
  const auto waits = [](Clock& on) -> io::awaitable<int> {
    const int n = co_await asio::await(later(on, 1));
    co_return n;
  };
  {
    io::io_context context;
    io::co_spawn(context, waits(clock), io::detached);
    context.poll();
    EXPECT_EQ(clock.waiters(), 1U);
  }
  EXPECT_EQ(clock.waiters(), 0U);
}
#endif

}  // namespace
}  // namespace kube
