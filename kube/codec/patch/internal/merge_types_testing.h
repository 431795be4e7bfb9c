// Described structs with lists and maps for every way to merge, for the tests of patches and apply.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/table.h"
#include "kube/meta/type_info.h"
#include "kube/meta/value.h"

namespace mergetypes {

/// One member of each strategy of strategic merge patch.
struct Item {
  kube::String name;
  kube::String value;
  kube::String other;
  kube::List<Item> mergingList;
  kube::List<Item> nonMergingList;
  kube::List<std::int32_t> mergingIntList;
  kube::List<std::int32_t> nonMergingIntList;
  kube::Map<kube::String> simpleMap;
  kube::RawExtension replacingItem;
  kube::Value jsonItem;
  kube::Shared<Item> item;
  kube::Shared<Item> retainKeysMap;
  kube::Shared<Item> replacingMap;
  kube::List<Item> retainKeysMergingList;
  kube::Map<Item> items;
  kube::List<Item> secondList;
};

}  // namespace mergetypes

template <>
struct kube::TypeOf<mergetypes::Item> {
  static const TypeInfo info;
};

namespace mergetypes {

using kube::MergeInfo;

inline constexpr MergeInfo kByName{.patchStrategy = "merge", .patchMergeKey = "name"};
inline constexpr MergeInfo kUnited{.patchStrategy = "merge"};
inline constexpr MergeInfo kReplaced{.patchStrategy = "replace"};
inline constexpr MergeInfo kRetained{.patchStrategy = "retainKeys"};
inline constexpr MergeInfo kRetainedByName{.patchStrategy = "merge,retainKeys",
                                           .patchMergeKey = "name"};

inline constexpr kube::FieldInfo kItemFields[] = {
    KUBE_FIELD(Item, name, "name", 0, 0, nullptr),
    KUBE_FIELD(Item, value, "value", 0, 0, nullptr),
    KUBE_FIELD(Item, other, "other", 0, 0, nullptr),
    KUBE_FIELD(Item, mergingList, "mergingList", 0, 0, &kByName),
    KUBE_FIELD(Item, nonMergingList, "nonMergingList", 0, 0, nullptr),
    KUBE_FIELD(Item, mergingIntList, "mergingIntList", 0, 0, &kUnited),
    KUBE_FIELD(Item, nonMergingIntList, "nonMergingIntList", 0, 0, nullptr),
    KUBE_FIELD(Item, simpleMap, "simpleMap", 0, 0, nullptr),
    KUBE_FIELD(Item, replacingItem, "replacingItem", 0, 0, &kReplaced),
    KUBE_FIELD(Item, jsonItem, "jsonItem", 0, 0, nullptr),
    KUBE_FIELD(Item, item, "item", 0, 0, nullptr),
    KUBE_FIELD(Item, retainKeysMap, "retainKeysMap", 0, 0, &kRetained),
    KUBE_FIELD(Item, replacingMap, "replacingMap", 0, 0, &kReplaced),
    KUBE_FIELD(Item, retainKeysMergingList, "retainKeysMergingList", 0, 0, &kRetainedByName),
    KUBE_FIELD(Item, items, "items", 0, 0, nullptr),
    KUBE_FIELD(Item, secondList, "secondList", 0, 0, &kByName),
};

}  // namespace mergetypes

inline constinit const kube::TypeInfo kube::TypeOf<mergetypes::Item>::info =
    kube::detail::makeType<mergetypes::Item>("Item", mergetypes::kItemFields);

namespace mergetypes {

inline const kube::TypeInfo& kItem = kube::TypeOf<Item>::info;
inline std::string asJson(std::string_view yaml) { return kube::toJson(kube::parseYaml(yaml)); }

}  // namespace mergetypes
