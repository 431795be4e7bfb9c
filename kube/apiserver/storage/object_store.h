// Creating, changing and deleting an API server's objects, by the rules that hold for all kinds:
// names, uids, generations, optimistic concurrency, the status split, owners of fields, finalizers.
//
//   ObjectStore store(storage, resources, realClock());
//   AnyObject made = store.create({pods, pods->version("v1"), "book"}, std::move(pod), {});
//   store.update({..., "book", "web"}, [&](const AnyObject* now) { ... return next; }, {});
//   store.remove({..., "book", "web"}, {.propagationPolicy = "Foreground"}, {});
//
// What is handed in and out is in the target's version. All refusals are ApiErrors with the Status
// that kube-apiserver would send.
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

/// Where an object is, or is to be.
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
  /// The object comes with its managedFields, as server-side apply has made them.
  bool applies = false;
  /// An update creates what is not there; the edit is called with null then.
  bool mayCreate = false;
};

struct Updated {
  AnyObject object;
  bool created = false;
};

struct Removed {
  AnyObject object;  // its last state, or what it is now if it has to wait
  bool gone = true;
};

class ObjectStore {
 public:
  ObjectStore(Storage& storage, const ResourceTable& resources, Clock& clock)
      : storage_(storage), resources_(resources), clock_(clock) {}

  /// The target's name is of no account.
  AnyObject create(const Target& target, AnyObject object, const WriteOptions& options);

  /// Makes the next state from the current one. May be called more than once, if others write too.
  using Edit = std::function<AnyObject(const AnyObject* current)>;
  Updated update(const Target& target, const Edit& edit, const WriteOptions& options);

  Removed remove(const Target& target, const metav1::DeleteOptions& options,
                 const WriteOptions& write);

  /// The object in the target's version. Throws ApiError where there is none.
  AnyObject get(const Target& target) const;
  ObjectPtr find(const Target& target) const;

  Storage& storage() const noexcept { return storage_; }
  const ResourceTable& resources() const noexcept { return resources_; }
  Clock& clock() const noexcept { return clock_; }
  Time now() const;

  /// Who writes through that target.
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

/// Gives `to` the status of `from`; both are of one type.
void copyStatus(AnyObject& to, const AnyObject& from);
Value toValue(const AnyObject& object);
/// Throws ApiError for what does not fit the version's type. Fields that it has not are dropped,
/// and named in `unknown`.
AnyObject fromValue(const Target& target, const Value& value,
                    std::vector<std::string>* unknown = nullptr);

/// The refusal (400) of an object that does not fit the target's kind.
ApiError unfit(const Target& target, std::string_view why);
/// Throws ApiError (422) if there are errors.
void refuse(const Target& target, std::string_view name, const FieldErrors& errors);
void refuse(const GroupKind& kind, std::string_view name, const FieldErrors& errors);
/// Throws ApiError (400) unless the object has the name that the URL says.
void checkName(const metav1::ObjectMeta& meta, const String& wanted);
/// Throws ApiError (409) unless the object to be replaced is the one that was meant.
void checkUid(const Target& target, const String& wanted, const String& stored);
std::string newUid();
/// What nobody can guess, whatever else of the server he has seen.
std::string newToken();

}  // namespace kube::apiserver
