// Keys of controllers, of any type, as text for the log.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "kube/base/log.h"
#include "kube/workqueue/work_queue.h"

namespace kube {

/// The type of a controller's keys: it compares, hashes (by std::hash, or as a text) and is
/// printable (by str(), as a text, or by fmt). It is best cheap to copy.
template <class Key>
concept ControllerKey = QueueKey<Key> &&(std::convertible_to<const Key&, std::string_view> ||
                                         requires(const Key& key) {
                                           {
                                             std::hash<Key>{}(key)
                                             } -> std::convertible_to<std::size_t>;
                                         }) &&
                        (std::convertible_to<const Key&, std::string_view> ||
                         requires(const Key& key) {
                           { key.str() } -> std::convertible_to<std::string>;
                         } ||
                         fmt::is_formattable<Key>::value);

namespace detail {

template <ControllerKey Key>
std::string keyText(const Key& key) {
  if constexpr (std::convertible_to<const Key&, std::string_view>) {
    return std::string(std::string_view(key));
  } else if constexpr (requires {
                         { key.str() } -> std::convertible_to<std::string>;
                       }) {
    return key.str();
  } else {
    return fmt::format("{}", key);
  }
}

}  // namespace detail

}  // namespace kube
