// Creates, changes and deletes the objects of an API server by the rules for all kinds: names,
// uids, generations, optimistic concurrency, the status split, field owners, finalizers.
//
//   ObjectStore store(storage, resources, realClock());
//   AnyObject made = store.create({pods, pods->version("v1"), "book"}, std::move(pod), {});
//   store.update({..., "book", "web"}, [&](const AnyObject* now) { ... return next; }, {});
//   store.remove({..., "book", "web"}, {.propagationPolicy = "Foreground"}, {});
//
// Objects are passed in and returned in the target's version. Every refusal is an ApiError with the
// Status that kube-apiserver would send.
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kube/apiserver/storage/api_resource.h"
#include "kube/apiserver/storage/storage.h"
#include "kube/base/clock.h"
#include "kube/codec/apply/apply.h"
#include "kube/meta/any_object.h"
#include "kube/meta/api_error.h"
#include "kube/meta/v1.h"
#include "kube/meta/validation/field_error.h"

namespace kube::apiserver {

/// The place of an object that exists or is to be created.
struct Target {
  ResourcePtr resource;
  const ApiVersion* version = nullptr;
  String namespace_ = {};
  String name = {};
  String subresource = {};

  std::string key() const;
};

struct WriteOptions {
  String manager = "unknown";
  bool dryRun = false;
  /// The object comes with managedFields, which server-side apply has set.
  bool applies = false;
  /// Creates the object if it does not exist. The edit is called with null then.
  bool mayCreate = false;
};

struct Updated {
  AnyObject object;
  bool created = false;
};

struct Removed {
  AnyObject object;  // its last state, or its current one if deletion has to wait
  bool gone = true;
};

class ObjectStore {
 public:
  ObjectStore(Storage& storage, const ResourceTable& resources, Clock& clock)
      : storage_(storage), resources_(resources), clock_(clock) {}

  /// Creates an object. The target's name is ignored.
  AnyObject create(const Target& target, AnyObject object, const WriteOptions& options);

  /// Makes the next state from the current one. Called again if another writer was faster.
  using Edit = std::function<AnyObject(const AnyObject* current)>;
  Updated update(const Target& target, const Edit& edit, const WriteOptions& options);

  Removed remove(const Target& target, const metav1::DeleteOptions& options,
                 const WriteOptions& write);

  /// The object in the target's version. Throws ApiError if it does not exist.
  AnyObject get(const Target& target) const;
  ObjectPtr find(const Target& target) const;

  Storage& storage() const noexcept { return storage_; }
  const ResourceTable& resources() const noexcept { return resources_; }
  Clock& clock() const noexcept { return clock_; }
  Time now() const;

  /// The field manager of a write to the target.
  FieldManager manager(const Target& target, const WriteOptions& options) const;

 private:
  void checkNamespace(const Target& target, const metav1::ObjectMeta& meta) const;
  void finishUpdate(const Target& target, AnyObject& next, const AnyObject& current,
                    const WriteOptions& options) const;
  void own(const Target& target, AnyObject& next, const AnyObject* current,
           const WriteOptions& options) const;
  ObjectPtr put(const Target& target, const std::string& key, const ObjectPtr& expected,
                const AnyObject& next, bool last) const;

  Storage& storage_;
  const ResourceTable& resources_;
  Clock& clock_;
};

/// Copies the status; both objects are of one type.
void copyStatus(AnyObject& to, const AnyObject& from);
Value toValue(const AnyObject& object);
/// Throws ApiError if the value does not fit the version's type. Unknown fields are dropped, and
/// appended to `unknown`.
AnyObject fromValue(const Target& target, const Value& value,
                    std::vector<std::string>* unknown = nullptr);

/// The refusal (400) of an object that does not fit the target's kind.
ApiError unfit(const Target& target, std::string_view why);
/// Throws ApiError (422) if there are errors.
void refuse(const Target& target, std::string_view name, const FieldErrors& errors);
void refuse(const GroupKind& kind, std::string_view name, const FieldErrors& errors);
/// Throws ApiError (400) unless the object has the name in the URL.
void checkName(const metav1::ObjectMeta& meta, const String& wanted);
/// Throws ApiError (409) unless the stored object is the one that was meant.
void checkUid(const Target& target, const String& wanted, const String& stored);
std::string newUid();
/// A text that cannot be guessed from other outputs of the server.
std::string newToken();

}  // namespace kube::apiserver
