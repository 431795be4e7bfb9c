// The body of a watch: the changes of a resource's objects since some revision, encoded as the
// client takes them.
//
// A slow client delays nobody: changes that it has not taken stay in the storage. If it falls too
// far behind, it gets the event that its revision is gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/apiserver/server/object_forms.h"
#include "kube/apiserver/storage/storage.h"
#include "kube/base/clock.h"
#include "kube/base/internal/mutex.h"
#include "kube/http/http_server.h"
#include "kube/testing/faults.h"

namespace kube::apiserver {

/// The objects that a request selects.
struct ObjectFilter {
  std::string prefix = {};  // a prefix of the keys
  std::function<bool(const StoredObject&)> matches = {};

  bool operator()(const StoredObject& object) const { return !matches || matches(object); }
};

struct WatchPlan {
  std::int64_t from = 0;                // events after this revision
  bool expired = false;                 // the revision is gone: the watch says so and ends
  std::vector<ObjectPtr> initial = {};  // sent as ADDED, before all others
  bool endInitial = false;              // a bookmark marks the end of `initial`
  bool bookmarks = false;
  Clock::Duration bookmarkPeriod{};
  Clock::Duration timeout{};
};

class WatchBody : public std::enable_shared_from_this<WatchBody> {
 public:
  WatchBody(Storage& storage, ResourcePtr resource, ObjectFilter filter, ObjectForms forms,
            WatchPlan plan, Clock& clock);
  ~WatchBody();

  /// Answers a request with a watch.
  static std::shared_ptr<WatchBody> start(std::shared_ptr<WatchBody> body,
                                          const Responder& responder);

  /// Makes the watch fail.
  void fail(testing::WatchFault fault);
  const ApiResource& resource() const noexcept { return *resource_; }

 private:
  BodyState fill(std::string& out);
  BodyState failNow(testing::WatchFault fault, std::string& out);
  BodyState expire(std::string& out) const;
  void add(const Change& change, std::string& out);
  void addFrame(EventType type, const AnyObject& object, std::string& out);
  void scheduleBookmark();

  Storage& storage_;
  const ResourcePtr resource_;
  const ObjectFilter filter_;
  const ObjectForms forms_;
  WatchPlan plan_;
  Clock& clock_;
  BodyHandle handle_;
  std::uint64_t id_ = 0;
  std::size_t sentInitial_ = 0;
  std::int64_t at_ = 0;
  bool first_ = true;
  std::atomic<bool> timedOut_{false}, bookmarkDue_{false};
  // The WatchFault under way. An atomic optional would not be lock-free.
  static constexpr int kNoFault = -1;
  std::atomic<int> fault_{kNoFault};
  detail::Mutex timersMutex_;
  Timer timeout_ KUBE_GUARDED_BY(timersMutex_);
  Timer bookmark_ KUBE_GUARDED_BY(timersMutex_);
};

}  // namespace kube::apiserver
