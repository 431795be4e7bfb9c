// The rules of one kind: names, defaults, checks, generations, selectable fields. The embedded API
// server asks them what to do with an object beyond what it does with objects of every kind.
//
//   const KindRules& rules = version.rules();
//   rules.setDefaults(object);                        // restartPolicy: Always, ...
//   rules.prepareForCreate(object);                   // status.phase: Pending, ...
//   if (FieldErrors errors = rules.validate(object); !errors.empty()) ...   // 422
//
// There are three implementations: for built-in kinds (kube/apiserver/rules/built_in_rules.h), and
// for custom resources and their definitions (kube/apiserver/custom/custom_rules.h). Metadata is
// checked elsewhere: kube/meta/validation/object_validation.h.
//
// Thread safety: rules never change; every method may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/string.h"
#include "kube/codec/apply/field_schema.h"
#include "kube/meta/any_object.h"
#include "kube/meta/v1.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/validation/object_validation.h"

namespace kube::apiserver {

class KindRules {
 public:
  KindRules() = default;
  virtual ~KindRules() = default;
  KindRules(const KindRules&) = delete;
  KindRules& operator=(const KindRules&) = delete;

  // --- Facts.
  virtual validation::NameRule nameRule() const = 0;
  /// True if `metadata.generation` starts at 1 and counts changes.
  virtual bool tracksGeneration() const = 0;
  /// True if an update counts: the spec changed, or another part that matters for the kind.
  virtual bool changesGeneration(const AnyObject& next, const AnyObject& old) const = 0;
  /// True if the status that an object is created with stays, as that of a Node.
  virtual bool keepsStatusOnCreate() const { return false; }
  /// True if a PUT of an object that does not exist creates it.
  virtual bool allowsCreateOnUpdate() const { return false; }
  /// True if a PUT without resourceVersion replaces the stored object, whatever its version.
  virtual bool allowsUnconditionalUpdate() const { return false; }
  /// The finalizer that every deleted object gets; the server removes it after its clean-up.
  virtual std::optional<String> deletionFinalizer() const { return std::nullopt; }
  /// Seconds that a deleted object stays; `wanted` comes from the request.
  virtual std::int64_t deletionGrace(const AnyObject& /*object*/,
                                     std::optional<std::int64_t> /*wanted*/) const {
    return 0;
  }
  /// For server-side apply.
  virtual ObjectSchema schema() const = 0;

  // --- Changes that the server makes.

  /// Removes fields that the schema does not have, and appends a message for each to `unknown`.
  virtual void prune(AnyObject& /*object*/, std::vector<std::string>& /*unknown*/) const {}
  /// Fills in defaults. Does nothing to an object that has them all.
  virtual void setDefaults(AnyObject& object) const = 0;
  /// Sets and clears the fields that belong to the server. Call it after the status was cleared and
  /// the name and uid are set.
  virtual void prepareForCreate(AnyObject& /*object*/) const {}
  /// Keeps the fields that an update through the main resource cannot change.
  virtual void prepareForUpdate(AnyObject& /*next*/, const AnyObject& /*old*/) const {}

  // --- Checks.

  virtual FieldErrors validateFinalizers(const metav1::ObjectMeta& /*meta*/) const { return {}; }
  /// Checks an object that is created, with its defaults set.
  virtual FieldErrors validate(const AnyObject& object) const = 0;
  /// Checks an object that replaces another: its state and the change. Not for status updates.
  virtual FieldErrors validateUpdate(const AnyObject& next, const AnyObject& old) const = 0;
  virtual FieldErrors validateStatus(const AnyObject& /*next*/, const AnyObject& /*old*/) const {
    return {};
  }

  // --- Field selectors.

  /// The value of a field: empty if it is not set, nullopt if it cannot be selected by.
  virtual std::optional<String> selectableField(const AnyObject& object,
                                                std::string_view field) const = 0;
  /// True if objects can be selected by a field of theirs; those of the metadata aside, which are
  /// the same for all kinds.
  virtual bool selects(std::string_view field) const = 0;
  /// The message for a field that objects cannot be selected by.
  virtual std::string unknownField(std::string_view field) const {
    return "field label not supported: " + std::string(field);
  }
};

}  // namespace kube::apiserver
