// The reasons why keys wait in the queue of a controller.
//
// A key has at most ReconcileContext::kReasons of them, and only while it waits or has failed.
//
// Thread safety: WakeReasons: none. ReasonTable: every method may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/controller/reconcile_context.h"
#include "kube/workqueue/internal/item_hash.h"

namespace kube::detail {

struct WakeReasons {
  std::vector<WakeReason> last = {};  // each once
  std::uint64_t count = 0;

  void add(WakeReason reason);
  /// Puts reasons in front, as far as there is room for them.
  void addEarlier(WakeReasons earlier);
};

/// A UUID of version 4.
std::string newReconcileId();

template <class Key>
class ReasonTable {
 public:
  void add(const Key& key, WakeReason reason) {
    const Lock lock(reasonsMutex_);
    reasons_[key].add(std::move(reason));
  }
  void addEarlier(const Key& key, WakeReasons earlier) {
    const Lock lock(reasonsMutex_);
    reasons_[key].addEarlier(std::move(earlier));
  }
  WakeReasons take(const Key& key) {
    const Lock lock(reasonsMutex_);
    const auto found = reasons_.find(key);
    if (found == reasons_.end()) return {};
    WakeReasons taken = std::move(found->second);
    reasons_.erase(found);
    return taken;
  }

 private:
  Mutex reasonsMutex_;
  std::unordered_map<Key, WakeReasons, ItemHash<Key>> reasons_ KUBE_GUARDED_BY(reasonsMutex_);
};

}  // namespace kube::detail
