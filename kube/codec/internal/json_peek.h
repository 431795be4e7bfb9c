// The members of an object that are read before it is decoded.
//
// For source files of this folder; the public face is peekTypeMeta in kube/codec/json.h.
#pragma once

#include "kube/codec/internal/json_index.h"
#include "kube/codec/json.h"

namespace kube::detail {

struct JsonPeek {
  TypeMeta type;
  JsonIndex::Token items = 0;  // the array of items; 0: there is none

  /// True for a List, which holds objects of any kind.
  bool isList() const { return type.kind == "List" && type.apiVersion == "v1" && items != 0; }
};

JsonPeek peekJson(const JsonIndex& index, JsonIndex::Token object);

}  // namespace kube::detail
