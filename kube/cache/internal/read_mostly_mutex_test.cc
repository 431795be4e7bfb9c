#include "kube/cache/internal/read_mostly_mutex.h"

#include <gtest/gtest.h>

#include <shared_mutex>
#include <thread>
#include <vector>

namespace kube::detail {
namespace {

TEST(ReadMostlyMutexTest, ReadersAreThereTogether) {
  ReadMostlyMutex mutex;
  const std::shared_lock mine(mutex);
  std::thread([&] { const std::shared_lock theirs(mutex); }).join();
}

TEST(ReadMostlyMutexTest, AWriterIsAlone) {
  ReadMostlyMutex mutex;
  int a = 0, b = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) {
        const std::unique_lock lock(mutex);
        ++a;
        ++b;
      }
    });
  }
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) {
        const std::shared_lock lock(mutex);
        wrong += a == b ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(a, 6000);
}

TEST(ReadMostlyMutexTest, AWriterWaitsForAReaderAndReadersForAWriter) {
  ReadMostlyMutex mutex;
  std::atomic<int> written = 0;
  mutex.lock_shared();
  std::thread writer([&] {
    const std::unique_lock lock(mutex);
    written = 1;
  });
  std::thread reader([&] {
    while (written == 0) {
      const std::shared_lock lock(mutex);  // before the writer, or after it
    }
  });
  EXPECT_EQ(written, 0);
  mutex.unlock_shared();
  writer.join();
  reader.join();
  EXPECT_EQ(written, 1);
}

}  // namespace
}  // namespace kube::detail
