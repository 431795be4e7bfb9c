// What server-side apply has to know of an object, and two ways to say it: the table of a described
// type, or, for a custom resource, a FieldSchema made from its CustomResourceDefinition.
//
//   FieldSchema text{.kind = FieldSchema::Kind::String};
//   FieldSchema port{.kind = FieldSchema::Kind::Map,
//                    .members = {{"name", &text}, {"protocol", &text, "TCP"}}};
//   FieldSchema ports{.kind = FieldSchema::Kind::List, .element = &port, .keys = {"name"}};
//   FieldSchema network{.kind = FieldSchema::Kind::Map, .members = {{"ports", &ports}}};
//   applyPatch(live, config, &network, ...);
//
// Thread safety: constants, to any thread. Schemas point to each other and own nothing: whoever
// makes them keeps them while they are used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kube/base/string.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// One place in an object: what it holds, and what of that is owned and merged as one.
struct FieldSchema {
  enum class Kind : std::uint8_t {
    Any,     // whatever is there: objects are merged, arrays replaced
    Scalar,  // of any type
    String,
    Number,
    Boolean,
    List,
    Map,
  };
  struct Member {
    String name;
    const FieldSchema* schema = nullptr;
    Value default_ = {};  // null: none. What a key is taken for where an element lacks it
  };

  Kind kind = Kind::Any;
  /// Of a list or map: owned and replaced as one.
  bool atomic = false;
  /// Of a map: members without a name here may be anything.
  bool open = false;
  /// Of a map (or of Any, should it hold one), by name.
  std::vector<Member> members = {};
  /// Of a list; of a map, what members without a name are. Null: there are none.
  const FieldSchema* element = nullptr;
  /// Of a list that is not atomic, what an element is known by; none: by its value.
  std::vector<String> keys = {};
  /// The place is what this table describes, and all of the above says nothing.
  const TypeInfo* table = nullptr;

  const Member* member(std::string_view name) const noexcept {
    const auto at = std::lower_bound(
        members.begin(), members.end(), name,
        [](const Member& each, std::string_view wanted) { return each.name.view() < wanted; });
    return at != members.end() && at->name == name ? &*at : nullptr;
  }
};

/// Either of the two, or none. A view: 16 bytes, passed by value.
class ObjectSchema {
 public:
  ObjectSchema(std::nullptr_t = nullptr) noexcept {}               // NOLINT: implicit by design
  ObjectSchema(const TypeInfo* table) noexcept : table_(table) {}  // NOLINT: likewise
  ObjectSchema(const FieldSchema* fields) noexcept : fields_(fields) {}  // NOLINT: likewise

  const TypeInfo* table() const noexcept { return table_; }
  const FieldSchema* fields() const noexcept { return fields_; }

 private:
  const TypeInfo* table_ = nullptr;
  const FieldSchema* fields_ = nullptr;
};

}  // namespace kube
