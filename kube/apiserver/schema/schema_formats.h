// The string formats that an API server checks, by the names that schemas use: "date-time", "ipv4",
// "uuid" and so on. Each accepts the strings that kube-openapi accepts.
//
// Thread safety: every function may be called from any thread.
//
// For source files of this folder.
#pragma once

#include <string_view>

namespace kube::apiserver {

struct StringFormat {
  std::string_view name;  // without dashes
  bool (*matches)(std::string_view text);
};

/// Finds a format; null if it is not checked. Dashes in the name are ignored.
const StringFormat* findStringFormat(std::string_view name);

}  // namespace kube::apiserver
