// Makes foreign text safe for a terminal or a log: control characters that would move the cursor,
// change the title or hide earlier output are replaced by words.
//
// Control characters are U+0000 to U+001F and U+007F, except tabs and line ends ("\n", "\r\n"), and
// U+0080 to U+009F, which terminals also obey, as UTF-8 or as a single byte.
//
// Thread safety: functions without state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kube::detail {

struct ControlCharacter {
  std::size_t at = std::string_view::npos;  // npos: none was found
  std::size_t length = 0;                   // in bytes
  unsigned char code = 0;
};

/// The first control character at or after `from`.
ControlCharacter findControl(std::string_view text, std::size_t from = 0) noexcept;

/// Replaces each control character by its name, such as "U+001B".
std::string withoutControls(std::string_view text);

/// The number of bytes at the end whose meaning depends on the next bytes: an incomplete character
/// or a carriage return.
std::size_t undecidedEnd(std::string_view text) noexcept;

}  // namespace kube::detail
