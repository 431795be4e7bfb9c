// A hash that names the content of a document, for ETags and cache keys. It is the same in every
// process.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <string>
#include <string_view>

namespace kube::apiserver {

/// SHA-512 in upper-case hexadecimal digits, as in kube-apiserver.
std::string contentHash(std::string_view content);

}  // namespace kube::apiserver
