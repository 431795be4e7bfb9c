// One round of the soak: informers of every sort watch objects that writers change, while the
// server fails in every way it can. In the end, caches and handlers must have the objects of the
// server.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kube::soak {

struct RoundOptions {
  std::uint64_t seed = 1;
  int objects = 2000;
  int changes = 4000;
};

struct RoundResult {
  std::vector<std::string> problems = {};  // texts of the first few
  std::map<std::string, int> faults = {};  // by kind
  std::size_t changes = 0;
  std::uint64_t lists = 0, watches = 0, errors = 0;
  std::uint64_t calls = 0;                  // of handlers
  std::chrono::nanoseconds longestStop{0};  // of an informer
  std::vector<std::string> informers = {};  // their describe()
};

RoundResult runRound(const RoundOptions& options);

}  // namespace kube::soak
