// Threads that change the objects on the server. Each has a part of the names to itself, and tries
// every change until the server accepts it.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "kube/client/core/v1.h"
#include "kube/rest/config.h"
#include "test/soak/problems.h"

namespace kube::soak {

struct WritersOptions {
  std::uint64_t seed = 1;
  int writers = 5;
  int objects = 2000;  // names of all writers together
  int changes = 4000;  // of all writers together
};

class Writers {
 public:
  Writers(const Config& config, const WritersOptions& options, Problems& problems);
  /// Stops writers that are not done.
  ~Writers();

  /// Waits until a share of all changes is made, from 0 to 1. Returns false if that takes too long.
  bool waitFor(double share);
  bool done() const;
  std::size_t made() const;

  /// Pauses all writers until resume(). Returns when no write is under way.
  void pause();
  void resume();

 private:
  void write(int writer, const std::stop_token& stop);
  void change(std::mt19937_64& random, const String& name, bool& exists,
              const std::stop_token& stop);
  template <class Act>
  void insist(Act act, const std::stop_token& stop);

  const WritersOptions options_;
  Problems& problems_;
  const Clientset clients_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool paused_ = false;
  int writing_ = 0;
  std::size_t made_ = 0;
  int running_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace kube::soak
