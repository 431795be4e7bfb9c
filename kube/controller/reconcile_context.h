// The circumstances of one call of a reconcile function, for functions that take them.
//
//   controller.reconcile([&](const kube::ReconcileContext& context, const kube::ObjectKey& key) {
//     context.log.info("attempt {}: {}", context.attempt, context.why());
//     ...
//     if (!valid(*object)) throw kube::TerminalError("spec.cidr is not a network");
//   });
//
// The log says for that: attempt 1: ConfigMap book/web updated (configmaps)  controller=networks
// object=book/web reconcileID=8f14e45f-...
//
// A controller whose function takes no context collects no reasons.
//
// Thread safety: values. The context that reconcile receives lives until its call, or its
// coroutine, has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/clock.h"
#include "kube/base/error.h"
#include "kube/base/log.h"
#include "kube/base/string.h"
#include "kube/meta/object_key.h"

namespace kube {

/// A reason why a key is reconciled.
struct WakeReason {
  enum class Change : std::uint8_t {
    Added,
    Updated,
    Deleted,
    Resynced,  // nothing has changed
    Asked,     // by enqueue(), or by a source of the program's own
    Due,       // the time of Requeue::now() or after() has come
  };

  String source = {};     // its name: "configmaps"
  String kind = {};       // of the object: "ConfigMap"; empty if there is none
  ObjectKey object = {};  // the object that changed
  Change change = Change::Asked;

  /// "ConfigMap book/web updated (configmaps)".
  std::string str() const;
  bool operator==(const WakeReason&) const = default;
};

std::string_view toString(WakeReason::Change change) noexcept;

struct ReconcileContext {
  /// So many reasons are kept for a key.
  static constexpr std::size_t kReasons = 8;

  /// Unique for each call: a UUID.
  std::string id = {};
  /// Has the fields `controller`, `object` (the key) and `reconcileID`.
  Logger log = Logger("controller");
  /// The changes since the last call for this key that succeeded, the latest last. Equal reasons
  /// count, but appear once. Empty for a change that the call before has already seen.
  std::vector<WakeReason> reasons = {};
  std::uint64_t reasonCount = 0;
  /// 1, and one more after each failure in a row.
  int attempt = 1;
  /// The priority that the key had in the queue.
  int priority = 0;
  /// The end of Controller::reconcileTimeout().
  Clock::TimePoint deadline = Clock::noDeadline;
  /// Stops at the deadline, and when the controller does.
  std::stop_token stop = {};

  /// The reasons as one line of text.
  std::string why() const;
};

/// Thrown by a reconcile function, if trying again would be of no use before something changes. The
/// key is given up at once, whatever maxRetries() says.
class TerminalError : public Error {
 public:
  explicit TerminalError(const std::string& message) : Error(message) {}
  /// Takes over the message.
  explicit TerminalError(const std::exception& cause) : Error(cause.what()) {}
};

}  // namespace kube
