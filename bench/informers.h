// What it costs to fill informers with pods, and to keep them up to date.
#pragma once

#include <string>

namespace kube::bench {

/// Fills an informer of pods; MODE: proto, json, dynamic, metadata. `paged`: by a list, not a
/// watch.
int sync(const std::string& mode, bool paged);

/// Waits for `count` updates after the first sync.
int events(const std::string& mode, int count);

/// Makes `count` updates of seeded pods.
int churn(int count);

}  // namespace kube::bench
