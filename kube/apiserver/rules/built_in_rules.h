// What kube-apiserver knows of the built-in kinds: defaults, checks, names, selectable fields. The
// embedded API server asks here what to do with an object that is created or updated.
//
//   AnyObject object = decode(body);
//   setBuiltInDefaults(object);                       // restartPolicy: Always, ...
//   prepareForCreate(object);                         // status.phase: Pending, ...
//   if (FieldErrors errors = validateBuiltIn(object); !errors.empty()) ...   // 422
//
// The rules and their messages are those of Kubernetes 1.36, for every kind that it still serves in
// a stable version and that is named in built_in_kinds.cc. What is not named there has no defaults,
// no rules of its own, and the facts of a plain namespaced object. Metadata is not looked at: see
// kube/meta/validation/object_validation.h.
//
// All functions are pure but for the object they are given. Any thread may call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/string.h"
#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/validation/object_validation.h"

namespace kube::apiserver {

/// What decoding an object of this kind fills in. An object that has all its defaults stays as it
/// is, so it may be applied again.
void setBuiltInDefaults(AnyObject& object);

/// What creating sets or takes away besides: the phase and QoS class of a Pod, the selector of a
/// Job, the finalizer of a Namespace. To be called after the status was cleared and the name and
/// the uid are known.
void prepareForCreate(AnyObject& object);
/// What an update by the main resource cannot change without being told so: addresses of a Service,
/// finalizers of a Namespace, the spec of a CertificateSigningRequest.
void prepareForUpdate(AnyObject& next, const AnyObject& old);

/// What is wrong with an object that is to be created, its defaults set.
FieldErrors validateBuiltIn(const AnyObject& object);
/// What is wrong with an object that is to replace another: as it is, and as a change. Not for
/// updates of the status.
FieldErrors validateBuiltInUpdate(const AnyObject& next, const AnyObject& old);

/// Whether `metadata.generation` starts at 1.
bool tracksGeneration(const TypeInfo& type);
/// Whether an update makes a new generation: the spec changed, or whatever else counts for the
/// kind.
bool changesGeneration(const AnyObject& next, const AnyObject& old);
/// Whether the status that an object is created with stays: of a Node, which reports itself.
bool keepsStatusOnCreate(const TypeInfo& type);

/// What objects of this kind may be called.
validation::NameRule nameRuleFor(const TypeInfo& type);
/// Whether a PUT of something that does not exist creates it.
bool allowsCreateOnUpdate(const TypeInfo& type);
/// Whether a PUT without resourceVersion replaces whatever is there.
bool allowsUnconditionalUpdate(const TypeInfo& type);

/// What a field selector sees: "" for a field that is not set, nothing for one that cannot be
/// selected by.
std::optional<String> selectableField(const AnyObject& object, std::string_view field);
bool selectableFieldKnown(const TypeInfo& type, std::string_view field);
/// What the server says of one that is not: `field label not supported: FIELD` for most kinds.
std::string unknownFieldMessage(const TypeInfo& type, std::string_view field);

/// For how long the object stays after it was deleted: of a Pod what was wanted or what its spec
/// says; 0, which is at once, for one that never ran or has finished, and for all other kinds.
std::int64_t deletionGrace(const AnyObject& object, std::optional<std::int64_t> wanted);

/// Who hands out what a Service needs; each may be null, and then nothing is handed out.
struct ServiceAllocator {
  std::function<String()> clusterIP = {};
  std::function<std::int32_t()> nodePort = {};
};
/// Gives a Service the addresses and ports that its type needs and that it has not got. Objects of
/// other kinds stay as they are. To be called before a Service is checked, on create and update.
void allocateForService(AnyObject& object, const ServiceAllocator& allocator);

}  // namespace kube::apiserver
