// The source of a reflector's objects, without their C++ type: a ListWatch, or a client.
//
// Its objects are of the type that the reflector's ObjectType describes, allocated by
// std::allocate_shared. Nothing else refers to them yet, so they may still be changed.
//
// Errors are exceptions, as of the functions of a ListWatch.
//
// The tasks end with a CanceledError when a stop is requested. What they are given by reference
// outlives them.
//
// Thread safety: a reflector calls from one thread at a time. There is one watch at a time.
#pragma once

#include <functional>
#include <memory>

#include "kube/base/internal/block.h"
#include "kube/base/pool.h"
#include "kube/base/string.h"
#include "kube/base/task.h"
#include "kube/codec/stream.h"
#include "kube/meta/v1.h"

namespace kube::detail {

/// Makes an object of one type.
using MakeObject = std::shared_ptr<void> (*)();

template <class T>
std::shared_ptr<void> makeObject() {
  return std::allocate_shared<T>(BlockAllocator<T>());
}

/// An event of a watch.
struct SourceEvent {
  EventType type = EventType::Added;
  std::shared_ptr<void> object = {};  // null if it is an Error
  metav1::Status status = {};         // if it is one
};

class ObjectSource {
 public:
  using Use = std::function<void(std::shared_ptr<void> object)>;

  virtual ~ObjectSource() = default;

  /// Returns whether list and watch are both available.
  virtual bool complete() const noexcept { return true; }
  /// The executor on which the tasks run best; none if they block, and so need a thread of their
  /// own.
  virtual Executor executor() const { return {}; }
  /// Reads one page: calls `use` for each item, and returns the list's metadata.
  virtual Task<metav1::ListMeta> list(const metav1::ListOptions& options, const Use& use,
                                      Pool& pool) = 0;
  virtual Task<void> openWatch(const metav1::ListOptions& options, Pool& pool) = 0;
  virtual void closeWatch() = 0;
  /// Takes an event that has arrived. Returns false if there is none.
  virtual bool take(SourceEvent& event) = 0;
  /// Waits until there is something to take. Returns false when the watch has ended.
  virtual Task<bool> wait() = 0;
  /// Returns whether the server's resourceVersion has reached `version`. True if that cannot be
  /// determined.
  virtual Task<bool> hasReached(const String& version) = 0;
};

}  // namespace kube::detail
