// Faults that tests inject into an API server: which requests fail, how, and how often.
//
//   server.inject({.verb = "list", .resource = "pods", .times = 3, .status = 500});
//   server.inject({.verb = "update", .times = 1, .status = 409});   // isConflict()
//   server.inject({.probability = 0.01, .cut = true});
//   server.inject({.delay = 200ms});
//
// Over HTTP: POST /kubexx/faults adds a fault, written as JSON ({"verb":"list","status":500}); GET
// lists the faults, DELETE removes them.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "kube/base/internal/mutex.h"
#include "kube/http/http_server.h"
#include "kube/meta/v1.h"
#include "kube/meta/value.h"
#include "kube/testing/api_request.h"

namespace kube::testing {

using FaultId = std::uint64_t;

struct Fault {
  // --- The requests that fail. An empty field matches all requests.
  std::string verb = {};      // "watch"
  std::string resource = {};  // "pods", or "pods/status" for the subresource alone
  std::string path = {};      // a prefix: "/apis"
  double probability = 1;
  int times = -1;  // the number of requests that fail; negative: no limit

  // --- The failure. A delay can be combined with another failure.
  std::chrono::milliseconds delay{0};
  // The server does nothing and answers with this code, or hangs. The default reason is that of the
  // code: Conflict for 409 (AlreadyExists for a create), NotFound for 404, Expired for 410,
  // InternalError for 500.
  int status = 0;
  std::string reason = {};  // instead of the default
  int retryAfter = 0;       // seconds, in the answer with `status`
  bool hang = false;        // no answer at all
  // The server executes the request and damages its answer: the client cannot know whether a write
  // has happened.
  bool cut = false;        // the answer breaks off before its body
  bool cutInBody = false;  // the answer breaks off in the middle of its body
  bool garbage = false;    // meaningless bytes instead of the body

  bool damages() const noexcept { return cut || cutInBody || garbage; }
};

/// The answer for a fault with a `status`.
metav1::Status statusOf(const Fault& fault, const ApiRequest& request);

/// The body of an answer that the fault damages.
BodySource damaged(const Fault& fault, BodySource body);

/// Bytes that are neither JSON nor protobuf nor text.
inline constexpr std::string_view kGarbage = "\x01\x02\x7f\xff garbage {]\n\xff\xff\xff\xff";

/// The failure of an open watch.
enum class WatchFault {
  End,         // the server ends the watch as usual: not an error
  Cut,         // the connection breaks between two events
  CutInFrame,  // the connection breaks in the middle of an event
  Garbage,
  Silence,  // no more events
  Expire,   // an ERROR event: the revision is gone
};

class Faults {
 public:
  FaultId add(Fault fault);
  void remove(FaultId id);
  void clear();
  std::uint64_t hits() const;

  /// Returns the first fault that matches, and counts its use.
  std::optional<Fault> take(const ApiRequest& request);

  /// Throws ApiError if the value is not a fault.
  static Fault fromValue(const Value& value);
  Value toValue() const;

 private:
  mutable detail::Mutex faultsMutex_;
  std::map<FaultId, Fault> faults_ KUBE_GUARDED_BY(faultsMutex_);
  FaultId next_ KUBE_GUARDED_BY(faultsMutex_) = 1;
  std::uint64_t hits_ KUBE_GUARDED_BY(faultsMutex_) = 0;
  std::mt19937_64 random_ KUBE_GUARDED_BY(faultsMutex_){1};
};

}  // namespace kube::testing
