// What Boost.Beast and nghttp2 hand over as text, seen as the standard library's.
//
// For source files of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kube::detail {

template <class BeastView>
std::string_view view(BeastView text) {
  return {text.data(), text.size()};
}

inline std::string_view view(const std::uint8_t* text, std::size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}

}  // namespace kube::detail
