// The body of a watch: what has happened to a resource's objects since some revision, and what
// happens from now on, made as the client takes it.
//
// A slow client holds up nobody: what it has not taken is only remembered by the storage, and when
// it is too far behind, it is told that its revision is gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kube/apiserver/server/object_forms.h"
#include "kube/apiserver/storage/storage.h"
#include "kube/base/clock.h"
#include "kube/http/http_server.h"
#include "kube/testing/faults.h"

namespace kube::apiserver {

/// Which objects a request is about.
struct ObjectFilter {
  std::string prefix = {};  // of keys
  std::function<bool(const StoredObject&)> matches = {};

  bool operator()(const StoredObject& object) const { return !matches || matches(object); }
};

struct WatchPlan {
  std::int64_t from = 0;                // events after this revision
  bool expired = false;                 // that revision is gone: says so, and ends
  std::vector<ObjectPtr> initial = {};  // as ADDED, before all others
  bool endInitial = false;              // says when those are over, by a bookmark
  bool bookmarks = false;
  Clock::Duration bookmarkPeriod{};
  Clock::Duration timeout{};
};

class WatchBody : public std::enable_shared_from_this<WatchBody> {
 public:
  WatchBody(Storage& storage, ResourcePtr resource, ObjectFilter filter, ObjectForms forms,
            WatchPlan plan, Clock& clock);
  ~WatchBody();

  /// Answers with it.
  static std::shared_ptr<WatchBody> start(std::shared_ptr<WatchBody> body,
                                          const Responder& responder);

  /// Goes wrong on purpose.
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
  std::atomic<std::optional<testing::WatchFault>> fault_{};
  std::mutex timersMutex_;
  Timer timeout_, bookmark_;
};

}  // namespace kube::apiserver
