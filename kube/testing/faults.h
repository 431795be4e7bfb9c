// What an API server is to do wrong, to whom, and how often.
//
//   server.inject({.verb = "list", .resource = "pods", .times = 3, .status = 500});
//   server.inject({.verb = "update", .times = 1, .status = 409});   // isConflict()
//   server.inject({.probability = 0.01, .cut = true});
//   server.inject({.delay = 200ms});
//
// Over HTTP: POST /kubexx/faults with the same as JSON ({"verb":"list","status":500}), GET, DELETE.
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
  // --- Which requests. What is empty fits all.
  std::string verb = {};      // "watch"
  std::string resource = {};  // "pods"
  std::string path = {};      // a prefix: "/apis"
  double probability = 1;
  int times = -1;  // how often; negative: until told otherwise

  // --- What happens to them. A delay may come with something else.
  std::chrono::milliseconds delay{0};
  // Nothing is done but to answer with this code, or not even that. Its reason is the usual one of
  // the code: Conflict of 409 (AlreadyExists where something is created), NotFound of 404, Expired
  // of 410, InternalError of 500.
  int status = 0;
  std::string reason = {};  // another one
  int retryAfter = 0;       // seconds, of that answer
  bool hang = false;
  // What was asked for is done, and its answer is damaged: who wrote does not know that he did.
  bool cut = false;        // it breaks off, without a byte of its body
  bool cutInBody = false;  // in the middle of its body
  bool garbage = false;    // bytes that mean nothing instead of the body

  bool damages() const noexcept { return cut || cutInBody || garbage; }
};

/// What is answered where only that is done.
metav1::Status statusOf(const Fault& fault, const ApiRequest& request);

/// What is left of an answer's body after such a fault.
BodySource damaged(const Fault& fault, BodySource body);

/// Neither JSON nor protobuf, nor any text.
inline constexpr std::string_view kGarbage = "\x01\x02\x7f\xff garbage {]\n\xff\xff\xff\xff";

/// How a watch that is under way fails.
enum class WatchFault {
  End,         // as when the server closes it: nothing is wrong
  Cut,         // between two events
  CutInFrame,  // in the middle of one
  Garbage,
  Silence,  // nothing comes any more
  Expire,   // an ERROR event: the revision is gone
};

class Faults {
 public:
  FaultId add(Fault fault);
  void remove(FaultId id);
  void clear();
  std::uint64_t hits() const;

  /// The first that fits, counted as used.
  std::optional<Fault> take(const ApiRequest& request);

  /// Throws ApiError for what is no fault.
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
