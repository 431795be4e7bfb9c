// JSON kept as its text: an embedded object whose type is not known here (RawExtension), or the
// field set of a manager (FieldsV1). It is decoded and encoded unchanged. 8 bytes; empty means
// absent.
//
// Thread safety: as kube::String.
#pragma once

#include <utility>

#include "kube/base/string.h"

namespace kube {

struct RawExtension {
  String raw;

  explicit operator bool() const noexcept { return !raw.empty(); }
  bool operator==(const RawExtension&) const = default;
};

using FieldsV1 = RawExtension;

}  // namespace kube
