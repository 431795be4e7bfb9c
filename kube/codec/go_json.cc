#include "kube/codec/go_json.h"

#include <string_view>

#include "kube/codec/json.h"

namespace kube {

std::string toGoJson(const Value& value, int indent) {
  const std::string text = toJson(value, indent);
  std::string out;
  out.reserve(text.size());
  const auto instead = [&, rest = std::string_view(text)](std::size_t& at, std::string_view found,
                                                          std::string_view written) {
    if (!rest.substr(at).starts_with(found)) return false;
    out += written;
    at += found.size() - 1;
    return true;
  };
  // All of these occur in strings only.
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '<':
        out += "\\u003c";
        continue;
      case '>':
        out += "\\u003e";
        continue;
      case '&':
        out += "\\u0026";
        continue;
      case '\xE2':
        if (instead(i, "\u2028", "\\u2028") || instead(i, "\u2029", "\\u2029")) continue;
        break;
      case '\\':
        if (instead(i, "\\u0008", "\\b") || instead(i, "\\u000c", "\\f")) continue;
        out += text[i++];  // the escaped character follows below; it may be a backslash
        break;
      default:
        break;
    }
    out += text[i];
  }
  return out;
}

}  // namespace kube
