// Creates the strategic merge patch that turns one object into another.
//
// For source files of this folder; the public face is kube/codec/patch/strategic_merge.h.
#pragma once

#include "kube/codec/patch/internal/object_edit.h"
#include "kube/codec/patch/internal/strategic_schema.h"
#include "kube/meta/value.h"

namespace kube::detail {

struct StrategicDiffOptions {
  bool additions = true;  // and changes
  bool deletions = true;
  bool elementOrder = true;  // state the order of lists

  /// True if this patch alone decides about lists.
  bool isWhole() const noexcept { return additions && deletions && elementOrder; }
};

class StrategicDiff {
 public:
  explicit StrategicDiff(StrategicDiffOptions options) noexcept : options_(options) {}

  Value::Object objects(const Value::Object& original, const Value::Object& modified,
                        const StrategicSchema& schema, bool retainKeys = false) const;

 private:
  void members(std::string_view key, const Value& before, const Value& after,
               const StrategicSchema& schema, ObjectEdit& patch) const;
  void lists(std::string_view key, const Value::Array& original, const Value::Array& modified,
             const StrategicField& field, ObjectEdit& patch) const;
  void listsOfObjects(std::string_view key, const Value::Array& original,
                      const Value::Array& modified, const StrategicField& field,
                      ObjectEdit& patch) const;
  void listsOfScalars(std::string_view key, const Value::Array& original,
                      const Value::Array& modified, ObjectEdit& patch) const;

  StrategicDiffOptions options_;
};

}  // namespace kube::detail
