// Measures time, CPU and memory of this process.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace kube::bench {

// Returns a figure of /proc/self/status, in kB.
inline long statusKb(std::string_view key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::strtol(line.c_str() + key.size() + 1, nullptr, 10);
  }
  return 0;
}

// Makes VmHWM the peak from now on.
inline void resetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

inline double cpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Stopwatch {
 public:
  double wall() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double cpu() const { return cpuSeconds() - cpu_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_ = cpuSeconds();
};

}  // namespace kube::bench
