// A schema in the form that is walked: nodes that point to each other, with names sorted and
// patterns compiled. Made once by StructuralSchema, never changed after.
//
// For source files of this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/apiserver/schema/schema_formats.h"
#include "kube/apiserver/schema/schema_pattern.h"
#include "kube/base/string.h"
#include "kube/meta/validation/field_error.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

struct SchemaNode;

/// What types a place allows; none set allows all.
enum TypeBits : std::uint8_t {
  kBoolean = 1,
  kInteger = 2,
  kNumber = 4,
  kString = 8,
  kArray = 16,
  kObject = 32,
};

/// A limit of a number. One that its own type cannot hold is an error for every value: upstream
/// says so when it comes to validate one, not when the schema is made.
struct Limit {
  double value = 0;
  bool exclusive = false;
  bool fitsType = true;
};

/// What a value must be besides its type. Most places have none.
struct ValueRules {
  std::optional<Limit> maximum, minimum, multipleOf;
  std::optional<std::int64_t> maxLength, minLength, maxItems, minItems, maxProperties,
      minProperties;
  std::string pattern;
  std::unique_ptr<const Pattern> compiledPattern;
  std::vector<Value> enum_;            // ordered by compareValues, to be searched
  std::vector<std::string> enumShown;  // in the schema's order, as messages have them
  std::vector<String> required;        // in the schema's order
  std::vector<const SchemaNode*> allOf, anyOf, oneOf;
  const SchemaNode* not_ = nullptr;
};

struct SchemaNode {
  enum class ListType : std::uint8_t { Atomic, Set, Map };
  enum class NumberFormat : std::uint8_t { None, Int32, Int64, Float, Double };

  struct Property {
    String name;
    const SchemaNode* node;
  };

  std::uint8_t types = 0;
  bool nullable = false;
  bool preserveUnknown = false;
  bool embeddedResource = false;
  bool atomicMap = false;
  bool hasAdditional = false;     // additionalProperties is there,
  bool allowsAdditional = false;  // and not false
  bool hasEmbedded = false;       // embedded resources, here or below
  bool hasUniqueLists = false;    // sets or maps, here or below
  ListType listType = ListType::Atomic;
  NumberFormat numberFormat = NumberFormat::None;
  const StringFormat* stringFormat = nullptr;
  const SchemaNode* items = nullptr;
  const SchemaNode* additional = nullptr;
  std::vector<Property> properties;  // by name
  std::vector<String> listMapKeys;
  Value default_;          // null: none
  Value wholeDefault;      // the same with the defaults inside it
  std::string typeName;    // "integer,string"
  std::string formatName;  // as the schema has it; empty for one that is not known
  std::unique_ptr<const ValueRules> rules;

  const SchemaNode* property(std::string_view name) const noexcept {
    const auto at = std::lower_bound(
        properties.begin(), properties.end(), name,
        [](const Property& each, std::string_view wanted) { return each.name.view() < wanted; });
    return at != properties.end() && at->name == name ? at->node : nullptr;
  }
};

/// Members that every resource has, whether its schema says so or not.
inline bool isMetaField(std::string_view name) noexcept {
  return name == "metadata" || name == "kind" || name == "apiVersion";
}

/// Schemas go no deeper than this, and so does what walks objects along them.
inline constexpr int kMaxSchemaDepth = 250;

/// More unknown fields, or more errors, than this are not told: nobody reads them.
inline constexpr std::size_t kMaxTold = 1000;
inline constexpr std::size_t kMaxToldBytes = 1 << 20;

// --- The walkers. A node that is null describes nothing.

/// The value without what the schema does not specify; nothing when that is all of it. `root`
/// treats it as a resource whatever the node says. Paths of removed fields go to `unknown`.
std::optional<Value> prunedValue(const Value& value, const SchemaNode* node, bool root,
                                 std::vector<std::string>* unknown);

/// The value with its defaults, and without nulls that are not allowed; nothing when it has them.
std::optional<Value> defaultedValue(const Value& value, const SchemaNode& node);
/// The same for the node's own default, of which nulls are kept.
std::optional<Value> defaultedDefault(const SchemaNode& node);

/// With the metadata of embedded resources as ObjectMeta has it; nothing when it is. Fields that it
/// has not go to `unknown`. Throws DecodeError where it is malformed.
std::optional<Value> coercedValue(const Value& value, const SchemaNode& node, bool root,
                                  std::vector<std::string>* unknown);
/// The same for one metadata, whose place is `path`.
std::optional<Value> coercedMetadata(const Value& metadata, std::string_view path,
                                     std::vector<std::string>* unknown);

/// Whether the type of the place can hold this number.
bool limitFits(double value, const SchemaNode& node);

/// What the schema says is wrong. `old` is the value that it replaces, if any.
FieldErrors valueErrors(const Value& value, const Value* old, const SchemaNode& node,
                        const ErrorPath& path);

/// Elements that are there twice in lists that are sets or maps.
FieldErrors listErrors(const Value& value, const SchemaNode& node, const ErrorPath& path);

/// What is wrong with apiVersion, kind and metadata of embedded resources.
FieldErrors embeddedErrors(const Value& value, const SchemaNode& node, bool root,
                           const ErrorPath& path);

}  // namespace kube::apiserver
