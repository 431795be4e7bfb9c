// Text that Boost.Beast and nghttp2 pass to callbacks, as std::string_view.
//
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
