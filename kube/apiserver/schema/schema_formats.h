// The formats of strings that an API server checks, by the names a schema has for them:
// "date-time", "ipv4", "uuid" and so on. What each accepts is what kube-openapi accepts.
//
// Any thread may call.
//
// For source files of this folder.
#pragma once

#include <string_view>

namespace kube::apiserver {

struct StringFormat {
  std::string_view name;  // without its dashes
  bool (*matches)(std::string_view text);
};

/// Null for a format that is not checked. Dashes in a name do not count.
const StringFormat* findStringFormat(std::string_view name);

}  // namespace kube::apiserver
