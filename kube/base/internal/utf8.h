// UTF-8 for human readers: decoding, and quoting in messages.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kube::detail {

/// The length of the UTF-8 character at `at`, and its code point; 0 if it is invalid.
std::size_t decodeUtf8(std::string_view text, std::size_t at, char32_t& code) noexcept;

/// The text with every byte that is not valid UTF-8 replaced by U+FFFD, as Go's JSON does.
std::string replaceInvalidUtf8(std::string_view text);

/// True for letters, marks, digits, punctuation and symbols; ' ' is the only printable space. Code
/// points that are unassigned in Unicode count as printable.
bool isPrintable(char32_t code) noexcept;

/// The text in double quotes, in one line, as Go's %q prints it. Bytes that are not UTF-8 become
/// \xNN, and unprintable characters an escape.
std::string quoted(std::string_view text);

}  // namespace kube::detail
