// What goes wrong while informers run: one fault after the other, chosen at random.
//
// Thread safety: none; it has a thread of its own, which stop() ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include "kube/testing/api_server.h"
#include "test/soak/problems.h"
#include "test/soak/writers.h"

namespace kube::soak {

struct FaultSourceOptions {
  std::uint64_t seed = 1;
  int newHistories = 0;  // at most so many restarts with lost history
  /// Which informers have not noticed that there is a new history; empty for none.
  std::function<std::string()> unaware = {};
};

class FaultSource {
 public:
  /// It begins at once. The others must outlive it; `histories` is what it counts new ones in.
  FaultSource(testing::ApiServer& server, Writers& writers, Problems& problems,
              std::atomic<int>& histories, FaultSourceOptions options);

  /// No more faults; those under way are over.
  void stop();
  /// How many there were, by kind; after stop().
  const std::map<std::string, int>& counts() const noexcept { return counts_; }

 private:
  void run(const std::stop_token& stop);
  std::string next(const std::stop_token& stop);
  std::string failRequests();
  void restartWithNewHistory(const std::stop_token& stop);
  int upTo(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)) + 1; }

  testing::ApiServer& server_;
  Writers& writers_;
  Problems& problems_;
  std::atomic<int>& histories_;
  FaultSourceOptions options_;
  std::mt19937_64 random_;
  std::map<std::string, int> counts_;
  std::jthread thread_;
};

}  // namespace kube::soak
