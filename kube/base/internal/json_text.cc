#include "kube/base/internal/json_text.h"

#include <fmt/core.h>

#include <cmath>
#include <concepts>
#include <iterator>
#include <variant>

#include "kube/base/internal/utf8.h"

namespace kube::detail {

void appendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    char32_t code = 0;
    const std::size_t length = decodeUtf8(text, i, code);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(code));
    } else {
      out.append(text, i, length);
    }
    i += length;
  }
  out += '"';
}

void appendJsonValue(std::string& out, const LogField::Value& value) {
  std::visit(
      [&]<class T>(const T& plain) {
        if constexpr (std::same_as<T, std::string_view>) {
          appendJsonString(out, plain);
        } else {
          bool quoted = false;
          if constexpr (std::same_as<T, double>) quoted = !std::isfinite(plain);
          if (quoted) out += '"';
          fmt::format_to(std::back_inserter(out), "{}", plain);
          if (quoted) out += '"';
        }
      },
      value);
}

}  // namespace kube::detail
