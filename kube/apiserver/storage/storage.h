// The objects of an API server, in memory: every version of each within a window of changes.
//
//   Storage storage;
//   const auto pods = storage.add("pods");
//   ObjectPtr made = storage.put(*pods, "book/web", nullptr, std::move(pod));   // null: too late
//   Page all = storage.list(*pods, {.prefix = "book/"});
//   for (const auto& change : storage.changes(*pods, all.revision, 100).changes) ...
//
// One counter numbers all changes; its value after a change is the resourceVersion of what was
// changed. What was, at any revision in the window, can be listed again: pages of one list are of
// one revision. Each collection keeps its last changes for watchers; revisions before those are
// gone (compacted).
//
// Writers work on what they have read, and commit if nobody was faster; so nothing but the commit
// itself takes the lock for long.
//
// Thread safety: every method may be called from any thread. Stored objects and changes never
// change.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/pool.h"
#include "kube/base/string.h"
#include "kube/meta/any_object.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

/// The metadata of any object, also of an Unstructured.
metav1::ObjectMeta metaOf(const AnyObject& object);
void setMeta(AnyObject& object, metav1::ObjectMeta meta);

class StoredObject {
 public:
  StoredObject(AnyObject object, std::int64_t revision);

  const AnyObject& object() const noexcept { return object_; }
  const metav1::ObjectMeta& meta() const noexcept { return own_ ? *own_ : *object_.objectMeta(); }
  std::int64_t revision() const noexcept { return revision_; }
  /// Of its protobuf, as an item of a list; worked out when first asked for.
  std::size_t protobufSize() const;

 private:
  AnyObject object_;
  std::unique_ptr<const metav1::ObjectMeta> own_;  // of an Unstructured, read once
  std::int64_t revision_;
  mutable std::atomic<std::size_t> protobufSize_{0};
};
using ObjectPtr = std::shared_ptr<const StoredObject>;

/// What happened to one object.
class Change {
 public:
  Change(std::int64_t at, ObjectPtr was, ObjectPtr is, bool gone)
      : revision(at), before(std::move(was)), after(std::move(is)), deleted(gone) {}

  const std::int64_t revision;
  const ObjectPtr before;  // null: it is new
  const ObjectPtr after;   // if deleted: the last state, with this revision
  const bool deleted;

  /// What `encode` makes, kept for others who ask for the same form; those wait for it.
  String frame(const std::string& form, const std::function<std::string()>& encode) const;
  /// Those who want them now make their own.
  void forgetFrames() const;

 private:
  struct Frame {
    explicit Frame(std::string which) : form(std::move(which)) {}
    const std::string form;
    std::mutex making;
    std::optional<String> bytes;
  };

  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<Frame>> frames_;
  mutable bool old_ = false;
};
using ChangePtr = std::shared_ptr<const Change>;

/// One resource's objects; Storage has all access to it.
class Collection : public std::enable_shared_from_this<Collection> {
 public:
  explicit Collection(std::string name) : name_(std::move(name)) {}

  /// For messages.
  const std::string& name() const noexcept { return name_; }

  /// Runs a function that decodes, with a pool of this collection.
  template <class Function>
  auto decode(const Function& function) {
    for (Shelf& shelf : shelves_) {
      const std::unique_lock lock(shelf.mutex, std::try_to_lock);
      if (lock.owns_lock()) return function(shelf.pool);
    }
    std::lock_guard lock(shelves_[0].mutex);
    return function(shelves_[0].pool);
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

  // One pool shares most; the others are for who would have to wait for it.
  struct Shelf {
    std::mutex mutex;
    Pool pool;
  };

  const std::string name_;
  std::array<Shelf, 4> shelves_;
  // The rest is guarded by the storage's lock.
  std::map<std::string, Entry, std::less<>> entries_;
  std::deque<ChangePtr> log_;
  std::int64_t compacted_ = 0;  // revisions before this one are gone
  std::int64_t trimmed_ = 0;    // the last change that is no longer in the log
  bool removed_ = false;
  std::size_t live_ = 0;
  std::map<std::uint64_t, std::function<void()>> watchers_;
};

struct ListRange {
  std::string_view prefix = {};  // of the keys: "book/"
  std::int64_t revision = 0;     // 0: now
  std::string_view after = {};   // begins behind this key
  std::size_t limit = 0;         // 0: all
  /// Called without a lock.
  std::function<bool(const StoredObject&)> matches = {};
};

struct Page {
  std::vector<ObjectPtr> objects;
  std::int64_t revision = 0;
  std::string last;           // the last object's key, if there is more
  std::size_t remaining = 0;  // how many more, not asking `matches`
};

struct Changes {
  std::vector<ChangePtr> changes;
  std::int64_t revision = 0;  // all of the collection's changes up to this one were seen
  bool gone = false;          // some have been compacted away
  bool over = false;          // the collection was removed: there will be no others
};

class Storage {
 public:
  /// `window` is how many changes each collection keeps.
  explicit Storage(std::size_t window) : window_(window) {}

  std::shared_ptr<Collection> add(std::string name);
  /// It is not part of the storage any more; its watchers are woken to see that it is over.
  void remove(const Collection& collection);

  std::int64_t revision() const;
  ObjectPtr get(const Collection& collection, std::string_view key) const;
  std::size_t count(const Collection& collection) const;
  /// The first revision that can still be listed or watched from.
  std::int64_t compacted(const Collection& collection) const;
  /// A range at a revision that was compacted is empty, with revision 0.
  Page list(const Collection& collection, const ListRange& range) const;
  /// At most `limit` of those after a revision. Who follows them misses nothing when revisions are
  /// compacted, as long as the changes themselves are there.
  Changes changes(const Collection& collection, std::int64_t after, std::size_t limit) const;

  /// Puts `next` in the place of `expected` (null: of nothing), with the resourceVersion that it
  /// gets. Null if what is stored is not, or no longer, `expected`: read again.
  ObjectPtr put(Collection& collection, const std::string& key, const ObjectPtr& expected,
                AnyObject next) {
    return commit(collection, key, expected, std::move(next), false);
  }
  /// Deletes it, with `last` as the last that is seen of it.
  ObjectPtr erase(Collection& collection, const std::string& key, const ObjectPtr& expected,
                  AnyObject last) {
    return commit(collection, key, expected, std::move(last), true);
  }

  /// `wake` is called after every change of the collection, until it is removed; without a lock, on
  /// the writer's thread.
  std::uint64_t watch(Collection& collection, std::function<void()> wake);
  void unwatch(Collection& collection, std::uint64_t id);
  /// Called with each change of any collection, in order, with the lock held: must only take note.
  void onChange(std::function<void(Collection&, const ChangePtr&)> function);

  /// Forgets what was before now: older revisions are gone.
  void compact(Collection& collection);
  void compactAll();
  /// As after a restore from an old backup: objects stay, revisions start anew below what they
  /// were.
  void rewindRevision(std::int64_t to);

 private:
  ObjectPtr commit(Collection& collection, const std::string& key, const ObjectPtr& expected,
                   AnyObject next, bool deleted);
  void trim(Collection& collection, std::size_t keep);
  Page pick(const Collection& collection, const ListRange& range, std::size_t limit) const;

  const std::size_t window_;
  mutable std::mutex mutex_;
  std::int64_t revision_ = 1;
  std::uint64_t nextWatcher_ = 1;
  std::vector<std::shared_ptr<Collection>> collections_;
  std::function<void(Collection&, const ChangePtr&)> onChange_;
};

}  // namespace kube::apiserver
