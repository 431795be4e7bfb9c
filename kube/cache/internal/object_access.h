// Keys and labels of objects, as caches use them: for structs (built-in types, types that the
// program describes, PartialObjectMetadata) and for Unstructured alike.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kube/meta/internal/object_access.h"
#include "kube/meta/object_key.h"
#include "kube/meta/selectors/label_selector.h"
#include "kube/meta/type_info.h"
#include "kube/meta/unstructured.h"

namespace kube {

/// A type whose objects can be cached: a described kind with a name, or Unstructured.
template <class T>
concept Cacheable = NamedObject<T> || std::same_as<T, Unstructured>;

namespace detail {

/// An object's key, as views into it.
struct KeyView {
  std::string_view namespace_ = {};
  std::string_view name = {};

  // The strings usually share memory; comparing addresses then saves a look at them.
  bool operator==(const KeyView& other) const noexcept {
    return same(name, other.name) && same(namespace_, other.namespace_);
  }

 private:
  static bool same(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && (a.data() == b.data() || a == b);
  }
};

/// Uses a secret key, so that clients cannot choose names that collide.
std::uint64_t hashOf(KeyView key) noexcept;

/// The hash for tables by ObjectKey.
struct KeyHash {
  std::size_t operator()(const ObjectKey& key) const { return hashOf({key.namespace_, key.name}); }
};

template <Cacheable T>
bool selects(const labels::Selector& selector, const T& object) {
  if constexpr (NamedObject<T>) {
    return selector.matches(object.metadata.labels);
  } else {
    const Value& labels = object.object["metadata"]["labels"];
    return selector.matches([&](std::string_view key) -> std::optional<std::string_view> {
      const Value& value = labels[key];
      if (!value.isString()) return std::nullopt;
      return value.asString().view();
    });
  }
}

}  // namespace detail

}  // namespace kube
