// The objects of an API server, in memory, with their versions within a window of changes.
//
//   Storage storage;
//   const auto pods = storage.add("pods");
// ObjectPtr made = storage.put(*pods, "book/web", nullptr, std::move(pod));   // null: conflict
//   Page all = storage.list(*pods, {.prefix = "book/"});
//   for (const auto& change : storage.changes(*pods, all.revision, 100).changes) ...
//
// One counter numbers all changes; its value is the resourceVersion of the changed object. The
// objects can be listed as they were at any revision in the window, so that all pages of a list are
// of one revision. Each collection keeps its last changes for watchers; older revisions are gone
// (compacted).
//
// Writers prepare a change without the lock, and commit it if no other writer was faster. Only the
// commit takes the lock.
//
// Thread safety: every method may be called from any thread. Stored objects and changes are
// immutable.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/internal/mutex.h"
#include "kube/base/pool.h"
#include "kube/base/string.h"
#include "kube/meta/any_object.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

/// The metadata of any object, including an Unstructured.
metav1::ObjectMeta metaOf(const AnyObject& object);
void setMeta(AnyObject& object, metav1::ObjectMeta meta);

class StoredObject {
 public:
  StoredObject(AnyObject object, std::int64_t revision);

  const AnyObject& object() const noexcept { return object_; }
  const metav1::ObjectMeta& meta() const noexcept { return own_ ? *own_ : *object_.objectMeta(); }
  std::int64_t revision() const noexcept { return revision_; }
  /// The size of its protobuf form as an item of a list. Computed when first asked for.
  std::size_t protobufSize() const;

 private:
  AnyObject object_;
  std::unique_ptr<const metav1::ObjectMeta> own_;  // for an Unstructured; read once
  std::int64_t revision_;
  mutable std::atomic<std::size_t> protobufSize_{0};
};
using ObjectPtr = std::shared_ptr<const StoredObject>;

/// A change of one object.
class Change {
 public:
  Change(std::int64_t at, ObjectPtr was, ObjectPtr is, bool gone)
      : revision(at), before(std::move(was)), after(std::move(is)), deleted(gone) {}

  const std::int64_t revision;
  const ObjectPtr before;  // null: the object is new
  const ObjectPtr after;   // if deleted: the last state, with this revision
  const bool deleted;

  /// The frame that `encode` makes, kept for watchers that ask for the same form. They wait while
  /// it is made.
  String frame(const std::string& form, const std::function<std::string()>& encode) const;
  /// Drops the frames, and keeps no others: watchers that still need one encode their own.
  void forgetFrames() const;

 private:
  struct Frame {
    explicit Frame(std::string which) : form(std::move(which)) {}
    const std::string form;
    detail::Mutex bytesMutex;  // held while they are made
    std::optional<String> bytes KUBE_GUARDED_BY(bytesMutex);
  };

  mutable detail::Mutex framesMutex_;
  mutable std::vector<std::shared_ptr<Frame>> frames_ KUBE_GUARDED_BY(framesMutex_);
  mutable bool old_ KUBE_GUARDED_BY(framesMutex_) = false;
};
using ChangePtr = std::shared_ptr<const Change>;

/// The objects of one resource. Storage accesses its contents.
class Collection : public std::enable_shared_from_this<Collection> {
 public:
  explicit Collection(std::string name) : name_(std::move(name)) {}

  /// For messages.
  const std::string& name() const noexcept { return name_; }

  /// Calls a function that decodes, with a pool of this collection.
  template <class Function>
  auto decode(const Function& function) {
    for (Shelf& shelf : shelves_) {
      if (!shelf.poolMutex.try_lock()) continue;
      const detail::Lock lock(shelf.poolMutex, std::adopt_lock);
      return function(shelf.pool);
    }
    Shelf& first = shelves_[0];
    const detail::Lock lock(first.poolMutex);
    return function(first.pool);
  }

 private:
  friend class Storage;

  struct Past {
    ObjectPtr object;
    std::int64_t until;  // the revision at which it was replaced or deleted
  };
  struct Entry {
    ObjectPtr live;  // null: deleted
    std::vector<Past> past;
  };
  struct Contents {
    std::map<std::string, Entry, std::less<>> entries = {};
    std::deque<ChangePtr> log = {};
    std::int64_t compacted = 0;  // revisions before this one are gone
    std::int64_t trimmed = 0;    // the last change that is no longer in the log
    bool removed = false;
    std::size_t live = 0;
    std::map<std::uint64_t, std::function<void()>> watchers = {};
  };

  // Most decoding shares the first pool; the others are for threads that would have to wait for it.
  struct Shelf {
    detail::Mutex poolMutex;
    Pool pool KUBE_GUARDED_BY(poolMutex);
  };

  const std::string name_;
  std::array<Shelf, 4> shelves_;
  Contents contents_;  // guarded by the storage's contentsMutex_: see Storage::in()
};

struct ListRange {
  std::string_view prefix = {};  // a prefix of the keys: "book/"
  std::int64_t revision = 0;     // 0: now
  std::string_view after = {};   // starts after this key
  std::size_t limit = 0;         // 0: all
  /// Called without a lock.
  std::function<bool(const StoredObject&)> matches = {};
};

struct Page {
  std::vector<ObjectPtr> objects;
  std::int64_t revision = 0;
  std::string last;           // the last object's key, if there is more
  std::size_t remaining = 0;  // the number of objects left, regardless of `matches`
};

struct Changes {
  std::vector<ChangePtr> changes;
  std::int64_t revision = 0;  // the changes are complete up to this revision
  bool gone = false;          // some changes have been compacted away
  bool over = false;          // the collection was removed: no more changes will come
};

class Storage {
 public:
  /// Each collection keeps `window` changes.
  explicit Storage(std::size_t window) : window_(window) {}

  std::shared_ptr<Collection> add(std::string name);
  /// Removes a collection, and wakes its watchers so that they see the end.
  void remove(const Collection& collection);

  std::int64_t revision() const;
  ObjectPtr get(const Collection& collection, std::string_view key) const;
  std::size_t count(const Collection& collection) const;
  /// The first revision that can still be listed or watched from.
  std::int64_t compacted(const Collection& collection) const;
  /// Lists a range. The page is empty, with revision 0, if the revision was compacted.
  Page list(const Collection& collection, const ListRange& range) const;
  /// Returns at most `limit` changes after a revision. A watcher that follows them misses nothing
  /// when revisions are compacted, as long as the changes themselves are there.
  Changes changes(const Collection& collection, std::int64_t after, std::size_t limit) const;

  /// Replaces `expected` (null: no object) by `next`, which gets its resourceVersion. Returns null
  /// if `expected` is not stored any more: read it again.
  ObjectPtr put(Collection& collection, const std::string& key, const ObjectPtr& expected,
                AnyObject next) {
    return commit(collection, key, expected, std::move(next), false);
  }
  /// Deletes an object. Watchers see `last` as its final state.
  ObjectPtr erase(Collection& collection, const std::string& key, const ObjectPtr& expected,
                  AnyObject last) {
    return commit(collection, key, expected, std::move(last), true);
  }

  /// Calls `wake` after every change of the collection until it is removed, without a lock, on the
  /// writer's thread.
  std::uint64_t watch(Collection& collection, std::function<void()> wake);
  void unwatch(Collection& collection, std::uint64_t id);
  /// Calls a function with each change of any collection, in order, with the lock held. It must
  /// only record the change.
  void onChange(std::function<void(Collection&, const ChangePtr&)> function);

  /// Drops all revisions before the current one.
  void compact(Collection& collection);
  void compactAll();
  /// Restores an old backup, as it were: objects stay, but revisions restart below their old
  /// values.
  void rewindRevision(std::int64_t to);

 private:
  ObjectPtr commit(Collection& collection, const std::string& key, const ObjectPtr& expected,
                   AnyObject next, bool deleted);
  // All access to the contents of collections goes through these.
  Collection::Contents& in(Collection& collection) const KUBE_REQUIRES(contentsMutex_) {
    return collection.contents_;
  }
  const Collection::Contents& in(const Collection& collection) const KUBE_REQUIRES(contentsMutex_) {
    return collection.contents_;
  }
  static void trim(Collection::Contents& contents, std::size_t keep);
  Page pick(const Collection& collection, const ListRange& range, std::size_t limit) const;

  const std::size_t window_;
  mutable detail::Mutex contentsMutex_;
  std::int64_t revision_ KUBE_GUARDED_BY(contentsMutex_) = 1;
  std::uint64_t nextWatcher_ KUBE_GUARDED_BY(contentsMutex_) = 1;
  std::vector<std::shared_ptr<Collection>> collections_ KUBE_GUARDED_BY(contentsMutex_);
  std::function<void(Collection&, const ChangePtr&)> onChange_ KUBE_GUARDED_BY(contentsMutex_);
};

}  // namespace kube::apiserver
