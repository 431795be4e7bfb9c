// Counts the pods of a saved list by phase. The list may have any size: one pod at a time is in
// memory.
//
//   kubectl get --raw /api/v1/pods | stream_list
#include <fmt/core.h>

#include <array>
#include <iostream>
#include <map>
#include <string>

#include "kube/api/core/v1.h"
#include "kube/codec/stream.h"

int main() try {
  std::map<std::string, int> phases;
  kube::ListDecoder<kube::corev1::Pod> list(
      [&](kube::corev1::Pod&& pod) { ++phases[pod.status.read().phase.str()]; });

  std::array<char, 64 << 10> chunk;
  while (std::cin.read(chunk.data(), chunk.size()), std::cin.gcount() > 0) {
    list.feed({chunk.data(), static_cast<std::size_t>(std::cin.gcount())});
  }
  const kube::metav1::ListMeta meta = list.finish();
  for (const auto& [phase, count] : phases) fmt::print("{:>8}  {}\n", count, phase);
  fmt::print("as of resource version {}\n", meta.resourceVersion);
  return 0;
} catch (const kube::Error& error) {
  fmt::print(stderr, "stream_list: {}\n", error.what());
  return 1;
}
