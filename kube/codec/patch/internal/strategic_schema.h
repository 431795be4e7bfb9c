// The facts in the tables that a strategic merge patch needs about one place in an object.
//
// For source files of this folder; the public face is kube/codec/patch/strategic_merge.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "kube/meta/type_info.h"

namespace kube::detail {

struct StrategicField;

/// The schema of an object with known fields, or of one whose members are all alike.
class StrategicSchema {
 public:
  explicit StrategicSchema(const TypeInfo& type) noexcept : type_(&type) {}

  /// The schema of a member that is an object, or an array. Throws PatchError if the type has no
  /// such field, or a field of another form: then nothing tells how to merge it.
  StrategicField object(std::string_view key) const;
  StrategicField list(std::string_view key) const;

  std::string_view name() const noexcept;

 private:
  // The schema of a map's members, or of a list's elements.
  explicit StrategicSchema(const FieldInfo& container) noexcept
      : type_(container.type), container_(&container) {}

  const FieldInfo& field(std::string_view key) const;

  const TypeInfo* type_;
  const FieldInfo* container_ = nullptr;  // not null: all members are like those of this map
};

struct StrategicField {
  enum class Strategy : std::uint8_t { Default, Merge, Replace };

  StrategicSchema inside;  // of the object, or of the list's elements
  Strategy strategy = Strategy::Default;
  bool retainKeys = false;
  std::string_view mergeKey = {};
};

}  // namespace kube::detail
