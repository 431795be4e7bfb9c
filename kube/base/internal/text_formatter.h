// Base of formatters for types that are formatted as a text, with a text's options, as in "{:>20}".
//
//   template <>
//   struct fmt::formatter<Colour> : kube::detail::TextFormatter {
//     auto format(Colour colour, fmt::format_context& context) const {
//       return text(nameOf(colour), context);
//     }
//   };
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace kube::detail {

struct TextFormatter : fmt::formatter<std::string_view> {
 protected:
  /// Compiled once; fmt's own function would be compiled in every file that formats such a type.
  fmt::format_context::iterator text(std::string_view text, fmt::format_context& context) const;
};

}  // namespace kube::detail
