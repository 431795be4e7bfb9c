// Macros for source files with tables: one line per field.
#pragma once

#include <cstddef>

#include "kube/meta/type_info.h"

namespace kube {
using enum FieldInfo::Flags;
}

// Structs of handles and numbers are standard layout in practice; offsetof is exact for them.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

/// Describes a member: its JSON name, protobuf tag (0: none), flags and merge facts.
#define KUBE_FIELD(Type, member, json, tag, flags, merge) \
  ::kube::detail::makeField<decltype(Type::member)>(json, offsetof(Type, member), tag, flags, merge)
