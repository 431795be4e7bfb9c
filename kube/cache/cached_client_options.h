// How a CachedClient reads: see cached_client.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

#include "kube/base/clock.h"
#include "kube/meta/gvk.h"

namespace kube {

/// How the objects of a kind are read.
enum class ReadPolicy : std::uint8_t {
  /// From the informer of the kind. The first read makes one if there is none, so the program needs
  /// the permission to list and watch the kind.
  Cached,
  /// From the informer of the kind. Without one, a read is an Error.
  FailOnMissingInformer,
  /// From the server.
  Live,
};

struct CachedClientOptions {
  ReadPolicy reads = ReadPolicy::Cached;
  /// Other policies, by kind: {{kube::gvkOf<corev1::Secret>(), kube::ReadPolicy::Live}}.
  std::map<GroupVersionKind, ReadPolicy> kinds = {};
  /// The time that a read waits for the first list of the informer. After that, reads ask the
  /// server until the list has come.
  Clock::Duration syncPatience = std::chrono::seconds(10);
  /// The number of own writes that are kept for each kind until the informer has received them, and
  /// the time. Beyond either, reads ask the server until the informer has caught up.
  std::size_t maxOwnWrites = 4096;
  Clock::Duration ownWritePatience = std::chrono::minutes(5);
  Clock* clock = nullptr;  // null: the real one
};

}  // namespace kube
