#include "kube/apiserver/storage/object_store.h"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "kube/api/core/v1.h"
#include "kube/apiserver/storage/service_addresses.h"
#include "kube/base/internal/text.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/api_error.h"
#include "kube/meta/equality.h"
#include "kube/meta/finalizers.h"
#include "kube/meta/object_key.h"
#include "kube/meta/validation/names.h"

namespace kube::apiserver {

namespace {

constexpr int kNameAttempts = 8;
constexpr int kUpdateAttempts = 1000;  // bounds the retries against writers that never stop

ApiError conflict(const Target& target, std::string_view why) {
  return ApiError(status::conflict(target.resource->name, target.name, why));
}

bool isNumber(std::string_view text) { return std::ranges::all_of(text, kube::detail::isDigit); }

// True if nothing is left that deletion waits for.
bool ended(const AnyObject& object, const metav1::ObjectMeta& meta) {
  if (meta.deletionTimestamp.isZero() || !meta.finalizers.empty()) return false;
  if (meta.deletionGracePeriodSeconds.value_or(0) > 0) return false;
  const auto* space = object.as<corev1::Namespace>();
  return space == nullptr || space->spec->finalizers.empty();
}

}  // namespace

std::string newUid() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  const std::uint64_t a = random(), b = random();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                     0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
}

std::string newToken() {
  unsigned char bytes[32];
  if (RAND_bytes(bytes, sizeof bytes) != 1) throw Error("token: no random numbers");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string Target::key() const { return ObjectKey{namespace_, name}.str(); }

Value toValue(const AnyObject& object) {
  if (const auto* dynamic = object.as<Unstructured>()) return dynamic->object;
  return toUnstructured(object.type(), object.data()).object;
}

AnyObject fromValue(const Target& target, const Value& value, std::vector<std::string>* unknown) {
  AnyObject object(*target.version->type);
  const GroupVersionKind kind = target.resource->kindIn(*target.version);
  try {
    if (auto* dynamic = object.as<Unstructured>()) {
      dynamic->object = value;
      if (dynamic->gvk() != kind) {
        throw DecodeError({},
                          fmt::format("it is a {} of {}, not a {} of {}", dynamic->kind(),
                                      dynamic->apiVersion(), kind.kind, kind.groupVersion().str()));
      }
      metaOf(object);  // throws for malformed metadata
      std::vector<std::string> pruned;
      target.version->rules().prune(object, pruned);
      if (unknown != nullptr) *unknown = std::move(pruned);
      return object;
    }
    fromUnstructured(object.type(), object.data(), Unstructured(value), {.problems = unknown});
  } catch (const DecodeError& error) {
    throw unfit(target, error.what());
  }
  return object;
}

void copyStatus(AnyObject& to, const AnyObject& from) {
  if (auto* dynamic = to.as<Unstructured>()) {
    const Value& status = from.as<Unstructured>()->object["status"];
    if (status.isNull()) {
      dynamic->object.object().erase("status");
    } else {
      dynamic->object["status"] = status;
    }
    return;
  }
  const FieldInfo* field = to.type().field("status");
  if (field == nullptr || field->kind != FieldKind::Message || field->shape == Shape::Plain) return;
  // A shared message is one handle, so swapping handles swaps the messages.
  AnyObject copy = from;
  auto* a = static_cast<std::byte*>(to.data()) + field->offset;
  auto* b = static_cast<std::byte*>(copy.data()) + field->offset;
  std::swap_ranges(a, a + sizeof(void*), b);
}

ApiError unfit(const Target& target, std::string_view why) {
  const String& kind = target.resource->kind;
  return ApiError(
      status::badRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind,
                                     target.version->version, kind, why)));
}

void refuse(const Target& target, std::string_view name, const FieldErrors& errors) {
  refuse(GroupKind{target.resource->name.group, target.resource->kind}, name, errors);
}

void refuse(const GroupKind& kind, std::string_view name, const FieldErrors& errors) {
  if (errors.empty()) return;
  List<metav1::StatusCause> causes;
  for (const FieldError& error : errors) causes.push_back(error.cause());
  throw ApiError(status::invalid(kind, name, causes));
}

void checkName(const metav1::ObjectMeta& meta, const String& wanted) {
  if (meta.name.empty()) {
    throw ApiError(status::badRequest(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided",
        wanted)));
  }
  if (meta.name != wanted) {
    throw ApiError(status::badRequest(fmt::format(
        "the name of the object ({}) does not match the name on the URL ({})", meta.name, wanted)));
  }
}

void checkUid(const Target& target, const String& wanted, const String& stored) {
  if (wanted == stored) return;
  throw conflict(target,
                 fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}",
                             wanted, stored));
}

Time ObjectStore::now() const {
  return Time(std::chrono::floor<std::chrono::seconds>(clock_.wallNow()));
}

FieldManager ObjectStore::manager(const Target& target, const WriteOptions& options) const {
  return {.name = options.manager,
          .apiVersion = GroupVersion{target.resource->name.group, target.version->version}.str(),
          .subresource = target.subresource,
          .time = now()};
}

ObjectPtr ObjectStore::find(const Target& target) const {
  return storage_.get(*target.resource->objects, target.key());
}

AnyObject ObjectStore::get(const Target& target) const {
  const ObjectPtr stored = find(target);
  if (!stored) throw ApiError(status::notFound(target.resource->name, target.name));
  return target.resource->convert(stored->object(), *target.version);
}

namespace {

// Setting defaults unshares parts of the object. Decoding it again through the pool shares them
// with other objects of the kind: they take less memory, and lists are encoded in half the time.
void shareParts(Collection& objects, AnyObject& object) {
  if (object.type().wire.empty()) return;
  std::string bytes;
  encodeProtobuf(object.type(), object.data(), bytes);
  AnyObject shared(object.type());
  objects.decode([&](Pool& pool) {
    decodeProtobuf(object.type(), shared.data(), bytes, {.pool = &pool, .checkKind = false});
  });
  object = std::move(shared);
}

}  // namespace

ObjectPtr ObjectStore::put(const Target& target, const std::string& key, const ObjectPtr& expected,
                           const AnyObject& next, bool last) const {
  Collection& objects = *target.resource->objects;
  AnyObject stored = target.resource->convert(next, target.resource->stored());
  shareParts(objects, stored);
  return last ? storage_.erase(objects, key, expected, std::move(stored))
              : storage_.put(objects, key, expected, std::move(stored));
}

void ObjectStore::checkNamespace(const Target& target, const metav1::ObjectMeta& meta) const {
  const ResourcePtr namespaces = resources_.find({"", "namespaces"});
  const ObjectPtr stored = storage_.get(*namespaces->objects, meta.namespace_.view());
  if (!stored) throw ApiError(status::notFound({"", "namespaces"}, meta.namespace_));
  if (stored->meta().deletionTimestamp.isZero()) return;
  metav1::Status refusal = status::forbidden(
      target.resource->name, meta.name.empty() ? meta.generateName : meta.name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  meta.namespace_));
  refusal.details->causes.push_back(
      {.reason = "NamespaceTerminating",
       .message = fmt::format("namespace {} is being terminated", meta.namespace_),
       .field = "metadata.namespace"});
  throw ApiError(refusal);
}

namespace {

OwnedObject owned(AnyObject object) {
  metav1::ObjectMeta meta = metaOf(object);
  OwnedObject result{.owners = std::exchange(meta.managedFields, {})};
  if (auto* dynamic = object.as<Unstructured>()) {
    const Value& given = std::as_const(dynamic->object)["metadata"]["managedFields"];
    result.reset = given.isArray() && given.asArray().empty();
    if (!given.isNull()) dynamic->object["metadata"].object().erase("managedFields");
  } else {
    setMeta(object, std::move(meta));
  }
  result.object = toValue(object);
  return result;
}

}  // namespace

// Records in managedFields which manager changed which fields.
void ObjectStore::own(const Target& target, AnyObject& next, const AnyObject* current,
                      const WriteOptions& options) const {
  if (options.applies) return;
  metav1::ObjectMeta meta = metaOf(next);
  meta.managedFields =
      updateOwners(current == nullptr ? OwnedObject() : owned(*current), owned(next),
                   target.version->rules().schema(), manager(target, options));
  // Share the entries that replicas have in common; shareParts() does so for described kinds.
  if (target.resource->custom()) {
    target.resource->objects->decode([&](Pool& pool) {
      for (metav1::ManagedFieldsEntry& entry : meta.managedFields) {
        for (String* text : {&entry.manager, &entry.operation, &entry.apiVersion, &entry.fieldsType,
                             &entry.fieldsV1.raw, &entry.subresource}) {
          *text = pool.string(*text);
        }
      }
      pool.settle();
    });
  }
  setMeta(next, std::move(meta));
}

AnyObject ObjectStore::create(const Target& target, AnyObject object, const WriteOptions& options) {
  const ApiResource& resource = *target.resource;
  const KindRules& rules = target.version->rules();
  metav1::ObjectMeta meta = metaOf(object);
  if (!resource.namespaced && !meta.namespace_.empty()) {
    throw ApiError(status::badRequest("namespace is not allowed on this type"));
  }
  if (resource.namespaced) {
    if (meta.namespace_.empty()) meta.namespace_ = target.namespace_;
    if (meta.namespace_ != target.namespace_) {
      throw ApiError(status::badRequest(
          "the namespace of the provided object does not match the namespace sent on the request"));
    }
    if (meta.namespace_.empty()) {
      throw ApiError(status::badRequest("an empty namespace may not be set during creation"));
    }
    checkNamespace(target, meta);
  }
  if (!meta.resourceVersion.empty() && meta.resourceVersion != "0") {
    throw ApiError({.status = "Failure",
                    .message = "resourceVersion should not be set on objects to be created",
                    .code = 500});
  }
  const bool generated = meta.name.empty() && !meta.generateName.empty();
  if (meta.name.empty() && !generated) {
    refuse(target, "",
           {FieldError::required(ErrorPath("metadata").child("name"),
                                 "name or generateName is required")});
  }
  meta.uid = newUid();
  meta.creationTimestamp = now();
  meta.deletionTimestamp = {};
  meta.deletionGracePeriodSeconds = {};
  meta.selfLink = {};
  meta.resourceVersion = {};
  meta.generation = rules.tracksGeneration() ? 1 : 0;
  if (generated) meta.name = generateName(meta.generateName);
  setMeta(object, meta);
  if (target.version->splitsStatus() && !rules.keepsStatusOnCreate()) {
    copyStatus(object, AnyObject(object.type()));
  }
  rules.setDefaults(object);
  rules.prepareForCreate(object);
  giveAddresses(object, storage_, *resource.objects);

  FieldErrors errors = validation::validateObjectMeta(
      metaOf(object), {.namespaced = resource.namespaced, .name = rules.nameRule()});
  append(errors, rules.validateFinalizers(metaOf(object)));
  append(errors, rules.validate(object));
  refuse(target, meta.name, errors);
  own(target, object, nullptr, options);

  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    meta = metaOf(object);
    if (attempt != 0) {
      meta.name = generateName(meta.generateName);
      setMeta(object, meta);
    }
    const std::string key = keyOf(meta).str();
    if (!storage_.get(*resource.objects, key)) {
      if (options.dryRun) return object;
      if (const ObjectPtr made = put(target, key, nullptr, object, false)) {
        return resource.convert(made->object(), *target.version);
      }
    }
    if (!generated) throw ApiError(status::alreadyExists(resource.name, meta.name));
  }
  throw ApiError(status::generateNameConflict(resource.name, meta.generateName, 1));
}

void ObjectStore::finishUpdate(const Target& target, AnyObject& next, const AnyObject& current,
                               const WriteOptions& options) const {
  const KindRules& rules = target.version->rules();
  const metav1::ObjectMeta old = metaOf(current);
  metav1::ObjectMeta meta = metaOf(next);
  if (meta.namespace_.empty()) meta.namespace_ = old.namespace_;
  checkName(meta, old.name);
  if (meta.namespace_ != old.namespace_) {
    throw ApiError(status::badRequest(
        fmt::format("the namespace of the object ({}) does not match the namespace on the request "
                    "({})",
                    meta.namespace_, old.namespace_)));
  }
  if (meta.resourceVersion.empty() || meta.resourceVersion == "0") {
    if (!rules.allowsUnconditionalUpdate()) {
      FieldError error = FieldError::invalid(ErrorPath("metadata").child("resourceVersion"), {},
                                             "must be specified for an update");
      metav1::StatusCause cause = error.cause();
      cause.message = "Invalid value: 0x0: must be specified for an update";  // as Go prints 0
      throw ApiError(status::invalid({target.resource->name.group, target.resource->kind},
                                     meta.name, {cause}));
    }
  } else if (!isNumber(meta.resourceVersion)) {
    throw ApiError({.status = "Failure",
                    .message = fmt::format("strconv.ParseUint: parsing \"{}\": invalid syntax",
                                           meta.resourceVersion),
                    .code = 500});
  } else if (meta.resourceVersion != old.resourceVersion) {
    throw conflict(target,
                   "the object has been modified; please apply your changes to the latest version "
                   "and try again");
  }
  if (target.subresource == "status") {
    // Outside of the status, only managedFields change.
    AnyObject same = current;
    copyStatus(same, next);
    next = std::move(same);
    const List<metav1::ManagedFieldsEntry> owners = meta.managedFields;
    meta = old;
    meta.managedFields = owners;
  } else if (target.version->splitsStatus() && target.subresource != "approval" &&
             target.subresource != "binding") {
    copyStatus(next, current);
  }
  if (meta.uid.empty()) meta.uid = old.uid;
  meta.resourceVersion = old.resourceVersion;
  meta.creationTimestamp = old.creationTimestamp;
  meta.deletionTimestamp = old.deletionTimestamp;
  meta.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds;
  meta.generation = old.generation;
  meta.selfLink = {};
  setMeta(next, meta);
  rules.setDefaults(next);
  const bool whole = target.subresource.empty() || target.subresource == "scale";
  if (whole) {
    rules.prepareForUpdate(next, current);
    giveAddresses(next, storage_, *target.resource->objects);
  }
  if (rules.tracksGeneration() && rules.changesGeneration(next, current)) {
    metav1::ObjectMeta counted = metaOf(next);
    ++counted.generation;
    setMeta(next, counted);
  }
  FieldErrors errors = validation::validateObjectMeta(
      metaOf(next), {.namespaced = target.resource->namespaced, .name = rules.nameRule()});
  append(errors, rules.validateFinalizers(metaOf(next)));
  append(errors, validation::validateObjectMetaUpdate(metaOf(next), old));
  append(errors, whole ? rules.validateUpdate(next, current) : rules.validateStatus(next, current));
  refuse(target, meta.name, errors);
  own(target, next, &current, options);
}

Updated ObjectStore::update(const Target& target, const Edit& edit, const WriteOptions& options) {
  for (int attempt = 0; attempt < kUpdateAttempts; ++attempt) {
    const ObjectPtr stored = find(target);
    if (!stored) {
      if (!options.mayCreate) {
        throw ApiError(status::notFound(target.resource->name, target.name));
      }
      AnyObject object = edit(nullptr);
      const metav1::ObjectMeta meta = metaOf(object);
      checkName(meta, target.name);
      if (!meta.uid.empty()) checkUid(target, meta.uid, "");
      try {
        return {create(target, std::move(object), options), true};
      } catch (const ApiError& error) {
        if (!isAlreadyExists(error)) throw;
        continue;
      }
    }
    const AnyObject current = target.resource->convert(stored->object(), *target.version);
    AnyObject next = edit(&current);
    finishUpdate(target, next, current, options);
    const bool last = ended(next, metaOf(next));
    if (!last && semanticEqual(next, current)) return {current};
    if (options.dryRun) return {std::move(next)};
    if (const ObjectPtr made = put(target, target.key(), stored, next, last)) {
      return {target.resource->convert(made->object(), *target.version)};
    }
  }
  throw conflict(target, "it changes too often");
}

Removed ObjectStore::remove(const Target& target, const metav1::DeleteOptions& options,
                            const WriteOptions& write) {
  const std::string_view policy = options.propagationPolicy   ? options.propagationPolicy->view()
                                  : !options.orphanDependents ? std::string_view()
                                  : *options.orphanDependents ? "Orphan"
                                                              : "Background";
  if (options.propagationPolicy && options.orphanDependents) {
    refuse(GroupKind{"meta.k8s.io", "DeleteOptions"}, "",
           {FieldError::invalid(ErrorPath("propagationPolicy"), policy,
                                "orphanDependents and deletionPropagation cannot be both set")});
  }
  if (!policy.empty() && policy != "Orphan" && policy != "Background" && policy != "Foreground") {
    refuse(GroupKind{"meta.k8s.io", "DeleteOptions"}, "",
           {FieldError::notSupported(ErrorPath("propagationPolicy"), policy,
                                     {"Foreground", "Background", "Orphan", "nil"})});
  }
  const KindRules& rules = target.version->rules();
  for (int attempt = 0; attempt < kUpdateAttempts; ++attempt) {
    const ObjectPtr stored = find(target);
    if (!stored) throw ApiError(status::notFound(target.resource->name, target.name));
    AnyObject next = target.resource->convert(stored->object(), *target.version);
    metav1::ObjectMeta meta = metaOf(next);
    if (const auto& wanted = options.preconditions) {
      // kube-apiserver names the kind here, not the resource.
      const GroupResource kind{target.resource->name.group, target.resource->kind};
      if (wanted->uid && *wanted->uid != meta.uid) {
        throw ApiError(status::conflict(
            kind, target.name,
            fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). "
                        "The object might have been deleted and then recreated",
                        *wanted->uid, meta.uid)));
      }
      if (wanted->resourceVersion && *wanted->resourceVersion != meta.resourceVersion) {
        throw ApiError(status::conflict(
            kind, target.name,
            fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                        "ResourceVersion in record ({}). The object might have been modified",
                        *wanted->resourceVersion, meta.resourceVersion)));
      }
    }
    if (!policy.empty()) {
      const auto want = [&](std::string_view finalizer, bool wanted) {
        removeFinalizer(meta, finalizer);
        if (wanted) meta.finalizers.push_back(finalizer);
      };
      want(validation::kFinalizerOrphanDependents, policy == "Orphan");
      want(validation::kFinalizerDeleteDependents, policy == "Foreground");
    }
    auto* space = next.as<corev1::Namespace>();
    const std::int64_t grace = rules.deletionGrace(next, options.gracePeriodSeconds);
    const bool again = !meta.deletionTimestamp.isZero();
    if (!again || grace < meta.deletionGracePeriodSeconds.value_or(0)) {
      meta.deletionTimestamp = now() + std::chrono::seconds(grace);
      if (space == nullptr) meta.deletionGracePeriodSeconds = grace;
      if (!again && meta.generation > 0) ++meta.generation;
    }
    if (const auto finalizer = rules.deletionFinalizer(); finalizer && !again) {
      meta.finalizers.push_back(*finalizer);
    }
    setMeta(next, meta);
    if (space != nullptr) space->status->phase = "Terminating";
    const bool gone = ended(next, meta);
    if (gone) next = target.resource->convert(stored->object(), *target.version);
    if (!gone && again && semanticEqual(metaOf(next), stored->meta())) return {next, false};
    if (write.dryRun) return {std::move(next), gone};
    if (const ObjectPtr made = put(target, target.key(), stored, next, gone)) {
      return {target.resource->convert(made->object(), *target.version), gone};
    }
  }
  throw conflict(target, "it changes too often");
}

}  // namespace kube::apiserver
