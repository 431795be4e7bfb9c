// Merges a strategic merge patch into an object, or into another patch.
//
// For source files of this folder; the public face is kube/codec/patch/strategic_merge.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/codec/patch/internal/object_edit.h"
#include "kube/codec/patch/internal/strategic_schema.h"
#include "kube/meta/value.h"

namespace kube::detail {

inline constexpr std::string_view kRetainKeys = "$retainKeys";
inline constexpr std::string_view kSetElementOrder = "$setElementOrder";
inline constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList";

class StrategicApplication {
 public:
  enum class Target {
    Object,  // directives take effect, nulls delete
    Patch,   // the target is a patch itself: directives and nulls become part of it
  };
  explicit StrategicApplication(Target target) noexcept : toObject_(target == Target::Object) {}

  Value::Object objects(const Value::Object& original, const Value::Object& patch,
                        const StrategicSchema& schema) const;

 private:
  /// Returns the members of `original` that remain.
  Value::Object retainKeys(const Value::Object& original, const Value::Object& patch) const;
  void member(ObjectEdit& original, const String& key, const Value& value,
              const StrategicSchema& schema) const;
  /// Merges the lists whose order the patch gives. Returns their names.
  std::vector<std::string> orderedLists(ObjectEdit& original, const Value::Object& patch,
                                        const StrategicSchema& schema) const;
  Value::Array orderedList(const Value* original, const Value* patch, const Value::Array& order,
                           const StrategicField& field) const;
  /// `live`, if given, is set to the order that counts as the server's: it includes new elements
  /// that replace deleted ones.
  Value::Array lists(const Value::Array& original, const Value::Array& patch,
                     const StrategicField& field, Value::Array* live = nullptr) const;
  Value::Array listsOfObjects(Value::Array original, const Value::Array& patch,
                              const StrategicField& field, Value::Array* live) const;
  void put(ObjectEdit& original, std::string_view key, const Value& value) const;

  bool toObject_;
};

}  // namespace kube::detail
