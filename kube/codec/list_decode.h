// A whole list body, decoded item by item into a list object.
//
// For source files of this folder. Indexing or sharing a list as one piece would take memory in
// proportion to its body; its items are small.
#pragma once

#include <string_view>

#include "kube/codec/options.h"
#include "kube/meta/type_info.h"

namespace kube::detail {

/// Whether the type is a kind with list metadata and items.
bool isListType(const TypeInfo& type) noexcept;

/// Decodes into `list`, a default-constructed struct of that type. Throws DecodeError.
void decodeList(const TypeInfo& type, void* list, std::string_view body,
                const DecodeOptions& options);

}  // namespace kube::detail
