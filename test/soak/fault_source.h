// Causes one random fault after the other while informers run, on a thread of its own.
//
// Thread safety: none. stop() ends the thread.
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
  int newHistories = 0;  // the most restarts with lost history
  /// Names the informers that have not noticed a new history; empty if there are none.
  std::function<std::string()> unaware = {};
};

class FaultSource {
 public:
  /// Starts at once. All arguments must outlive this object. It counts new histories in
  /// `histories`.
  FaultSource(testing::ApiServer& server, Writers& writers, Problems& problems,
              std::atomic<int>& histories, FaultSourceOptions options);

  /// Ends all faults.
  void stop();
  /// The number of faults by kind. Call stop() first.
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
