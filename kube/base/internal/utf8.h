// UTF-8 as text that a person reads: decoding it, and quoting it for a message.
//
// Any thread may call.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kube::detail {

/// The length of the UTF-8 character at `at`, and its code point; 0 if it is invalid.
std::size_t decodeUtf8(std::string_view text, std::size_t at, char32_t& code) noexcept;

/// The text with every byte that is not valid UTF-8 replaced by U+FFFD, as Go's JSON has it.
std::string replaceInvalidUtf8(std::string_view text);

/// Whether a character shows as something: letters, marks, digits, punctuation, symbols, and of
/// spaces only ' '. Code points that no Unicode version has given a meaning count as printable.
bool isPrintable(char32_t code) noexcept;

/// The text in double quotes as Go's %q shows it: one line, whatever is in it. Bytes that are not
/// UTF-8 become \xNN, what is not printable an escape.
std::string quoted(std::string_view text);

}  // namespace kube::detail
