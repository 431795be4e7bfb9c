// The facts about an object that server-side apply needs, in one of two forms: the table of a
// described type or, for a custom resource, a FieldSchema made from its CustomResourceDefinition.
//
//   FieldSchema text{.kind = FieldSchema::Kind::String};
//   FieldSchema port{.kind = FieldSchema::Kind::Map,
//                    .members = {{"name", &text}, {"protocol", &text, "TCP"}}};
//   FieldSchema ports{.kind = FieldSchema::Kind::List, .element = &port, .keys = {"name"}};
//   FieldSchema network{.kind = FieldSchema::Kind::Map, .members = {{"ports", &ports}}};
//   applyPatch(live, config, &network, ...);
//
// Thread safety: schemas are constants, for any thread. They point to each other and own nothing:
// their maker keeps them while they are used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kube/base/string.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace kube {

/// One place in an object: its kind of value, and the parts that are owned and merged as one.
struct FieldSchema {
  enum class Kind : std::uint8_t {
    Any,     // any value: objects are merged, arrays replaced
    Scalar,  // a scalar of any type
    String,
    Number,
    Boolean,
    List,
    Map,
  };
  struct Member {
    String name;
    const FieldSchema* schema = nullptr;
    Value default_ = {};  // null: none. Stands for the key of an element that lacks it
  };

  Kind kind = Kind::Any;
  /// For a list or map: owned and replaced as one.
  bool atomic = false;
  /// For a map: members that are not named here may be anything.
  bool open = false;
  /// For a map (or for Any, if it holds one): the members, sorted by name.
  std::vector<Member> members = {};
  /// For a list: its elements. For a map: the members without a name here. Null: there are none.
  const FieldSchema* element = nullptr;
  /// For a list that is not atomic: the keys that identify an element; none: its value does.
  std::vector<String> keys = {};
  /// This table describes the place, and everything above is ignored.
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
