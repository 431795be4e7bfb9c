// The name of a document's content, for ETags and cache keys: the same in every process.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <string_view>

namespace kube::apiserver {

/// SHA-512 in capital hexadecimal digits, as kube-apiserver has it.
std::string contentHash(std::string_view content);

}  // namespace kube::apiserver
