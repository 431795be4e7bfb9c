// Changes of objects, as a DeltaFifo queues them.
//
// A Delta is one change; Deltas are all changes of one object that a consumer has not seen yet, in
// the order in which they happened.
//
// Thread safety: values.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string_view>
#include <vector>

#include "kube/meta/object_key.h"

namespace kube {

enum class DeltaType : std::uint8_t {
  Added,
  Updated,
  Deleted,
  Replaced,  ///< The object was in a new list, and may or may not have changed.
  Sync,      ///< Nothing has changed: a resync.
};

/// The name of the enumerator: "Added".
std::string_view toString(DeltaType type) noexcept;
std::ostream& operator<<(std::ostream& out, DeltaType type);

/// One change of an object.
template <class T>
struct Delta {
  DeltaType type = DeltaType::Added;
  /// The state after the change. After a deletion the last known state; null if none is known.
  std::shared_ptr<const T> object = {};
  /// True if the deletion was not observed: the object was missing from a new list. `object` may be
  /// outdated then. (client-go's DeletedFinalStateUnknown.)
  bool finalStateUnknown = false;

  bool operator==(const Delta&) const = default;
};

/// The changes of one object, oldest first. Never empty.
template <class T>
struct Deltas {
  ObjectKey key = {};
  std::vector<Delta<T>> changes = {};
  /// True if objects of the first list were still queued when these were taken.
  bool inInitialList = false;

  const Delta<T>& oldest() const noexcept { return changes.front(); }
  const Delta<T>& newest() const noexcept { return changes.back(); }
};

}  // namespace kube
