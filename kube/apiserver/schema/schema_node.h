// A compiled schema: nodes that point to each other, with sorted names and compiled patterns.
// StructuralSchema makes it once; it never changes afterwards.
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

/// The types that a place allows. An empty set allows all.
enum TypeBits : std::uint8_t {
  kBoolean = 1,
  kInteger = 2,
  kNumber = 4,
  kString = 8,
  kArray = 16,
  kObject = 32,
};

/// A limit of a number. A limit that its own type cannot hold is an error for every value: upstream
/// reports it when it validates a value, not when the schema is compiled.
struct Limit {
  double value = 0;
  bool exclusive = false;
  bool fitsType = true;
};

/// The conditions on a value besides its type. Most places have none.
struct ValueRules {
  std::optional<Limit> maximum, minimum, multipleOf;
  std::optional<std::int64_t> maxLength, minLength, maxItems, minItems, maxProperties,
      minProperties;
  std::string pattern;
  std::unique_ptr<const Pattern> compiledPattern;
  std::vector<Value> enum_;            // ordered by compareValues, for binary search
  std::vector<std::string> enumShown;  // in the schema's order, for messages
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
  bool hasAdditional = false;     // additionalProperties is set,
  bool allowsAdditional = false;  // and is not false
  bool hasEmbedded = false;       // embedded resources, here or below
  bool hasUniqueLists = false;    // sets or maps, here or below
  ListType listType = ListType::Atomic;
  NumberFormat numberFormat = NumberFormat::None;
  const StringFormat* stringFormat = nullptr;
  const SchemaNode* items = nullptr;
  const SchemaNode* additional = nullptr;
  std::vector<Property> properties;  // sorted by name
  std::vector<String> listMapKeys;
  Value default_;          // null: none
  Value wholeDefault;      // with the defaults inside it
  std::string typeName;    // "integer,string"
  std::string formatName;  // as in the schema; empty if it is not known
  std::unique_ptr<const ValueRules> rules;

  const SchemaNode* property(std::string_view name) const noexcept {
    const auto at = std::lower_bound(
        properties.begin(), properties.end(), name,
        [](const Property& each, std::string_view wanted) { return each.name.view() < wanted; });
    return at != properties.end() && at->name == name ? at->node : nullptr;
  }
};

/// Members that every resource has, whether or not its schema declares them.
inline bool isMetaField(std::string_view name) noexcept {
  return name == "metadata" || name == "kind" || name == "apiVersion";
}

/// The greatest depth of a schema, and of walks over objects along it.
inline constexpr int kMaxSchemaDepth = 250;

/// The most unknown fields, and the most errors, that are reported for one object.
inline constexpr std::size_t kMaxTold = 1000;
inline constexpr std::size_t kMaxToldBytes = 1 << 20;

// --- The walkers. A null node describes nothing.

/// Returns the value without the fields that the schema does not specify; nullopt if there are
/// none. With `root` the value is treated as a resource, whatever the node says. Paths of removed
/// fields are appended to `unknown`.
std::optional<Value> prunedValue(const Value& value, const SchemaNode* node, bool root,
                                 std::vector<std::string>* unknown);

/// Returns the value with its defaults, and without nulls that are not allowed; nullopt if nothing
/// changes.
std::optional<Value> defaultedValue(const Value& value, const SchemaNode& node);
/// The same for the node's own default, in which nulls stay.
std::optional<Value> defaultedDefault(const SchemaNode& node);

/// Returns the value with the metadata of embedded resources in the form of ObjectMeta; nullopt if
/// nothing changes. Fields that ObjectMeta does not have are appended to `unknown`. Throws
/// DecodeError for malformed metadata.
std::optional<Value> coercedValue(const Value& value, const SchemaNode& node, bool root,
                                  std::vector<std::string>* unknown);
/// The same for the metadata at `path`.
std::optional<Value> coercedMetadata(const Value& metadata, std::string_view path,
                                     std::vector<std::string>* unknown);

/// True if the type of the place can hold this number.
bool limitFits(double value, const SchemaNode& node);

/// Checks a value against the schema. `old` is the value that it replaces, or null.
FieldErrors valueErrors(const Value& value, const Value* old, const SchemaNode& node,
                        const ErrorPath& path);

/// Reports duplicate elements of lists that are sets or maps.
FieldErrors listErrors(const Value& value, const SchemaNode& node, const ErrorPath& path);

/// Checks apiVersion, kind and metadata of embedded resources.
FieldErrors embeddedErrors(const Value& value, const SchemaNode& node, bool root,
                           const ErrorPath& path);

}  // namespace kube::apiserver
