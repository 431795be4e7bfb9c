// Standard base64 with padding, the form of byte fields in JSON.
#pragma once

#include <string>
#include <string_view>

namespace kube::detail {

void base64Encode(std::string_view bytes, std::string& out);

/// Returns false if the text is not base64. Line breaks are allowed, as in Go's decoder.
bool base64Decode(std::string_view text, std::string& out);

}  // namespace kube::detail
