// The cost of filling informers with pods, and of keeping them up to date.
#pragma once

#include <string>

namespace kube::bench {

/// Fills an informer of pods. `mode` is proto, json, dynamic or metadata; with `paged`, it lists
/// instead of watching.
int sync(const std::string& mode, bool paged);

/// Waits for `count` updates after the first sync.
int events(const std::string& mode, int count);

/// Makes `count` updates of seeded pods.
int churn(int count);

}  // namespace kube::bench
