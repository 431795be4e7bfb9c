// Text from elsewhere on its way to a terminal or a log: characters that would move its cursor,
// change its title or hide what was printed before are shown in words.
//
// Those are U+0000 to U+001F and U+007F but for tabs and line ends ("\n", "\r\n"), and U+0080 to
// U+009F, which terminals obey too, as UTF-8 or as a byte on its own.
//
// Thread safety: functions without state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kube::detail {

struct ControlCharacter {
  std::size_t at = std::string_view::npos;  // none is found
  std::size_t length = 0;                   // in bytes
  unsigned char code = 0;
};

/// The first that begins at `from` or behind.
ControlCharacter findControl(std::string_view text, std::size_t from = 0) noexcept;

/// "U+001B" for each of them.
std::string withoutControls(std::string_view text);

/// How many bytes at the end mean nothing before it is known what follows: a character that has
/// only begun, or a carriage return.
std::size_t undecidedEnd(std::string_view text) noexcept;

}  // namespace kube::detail
