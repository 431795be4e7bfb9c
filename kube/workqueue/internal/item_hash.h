// The hash of items in the tables of queues.
//
// Keys are often names that other people choose. Strings and object keys are therefore hashed with
// a secret of the process, so that names cannot be chosen to collide. Other types are hashed by
// std::hash.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>

#include "kube/meta/object_key.h"

namespace kube::detail {

std::uint64_t hashItem(std::string_view item) noexcept;
std::uint64_t hashItem(const ObjectKey& item) noexcept;

template <class T>
struct ItemHash {
  std::size_t operator()(const T& item) const noexcept {
    if constexpr (std::same_as<T, ObjectKey> || std::convertible_to<const T&, std::string_view>) {
      return hashItem(item);
    } else {
      // std::hash of an integer is that integer. This spreads its bits.
      const std::uint64_t mixed = std::hash<T>{}(item)*0x9E3779B97F4A7C15U;
      return mixed ^ (mixed >> 32);
    }
  }
};

}  // namespace kube::detail
