// A notification of an informer's handlers, without the C++ type of the objects.
//
// Thread safety: that of std::shared_ptr.
#pragma once

#include <cstdint>
#include <memory>

#include "kube/base/clock.h"
#include "kube/meta/object_key.h"

namespace kube::detail {

struct Notification {
  enum class Type : std::uint8_t { Add, Update, Delete };

  Type type = Type::Add;
  bool inInitialList = false;
  bool finalStateUnknown = false;
  std::shared_ptr<const void> before = {};  // of an update or a deletion
  std::shared_ptr<const void> after = {};   // of an addition or an update
  ObjectKey key = {};                       // of a deletion
  Clock::TimePoint since = {};              // set by push()
};

/// A handler, whatever the type of its objects.
class NotificationHandler {
 public:
  virtual ~NotificationHandler() = default;
  virtual void handle(const Notification& notification) const = 0;
};

}  // namespace kube::detail
