// Kinds of characters that formats of texts know, whatever the locale.
#pragma once

namespace kube::detail {

constexpr bool isDigit(char c) noexcept { return c >= '0' && c <= '9'; }

/// What JSON takes for white space.
constexpr bool isSpace(char c) noexcept { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace kube::detail
