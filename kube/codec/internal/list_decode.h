// Decodes the body of a list item by item into a list object, while it arrives.
//
// For the library itself. Indexing or sharing a list as one piece would take memory in proportion
// to its body; its items are small.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "kube/codec/options.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube {
class ListBudget;
}

namespace kube::detail {

/// True if the type is a kind with list metadata and items.
bool isListType(const TypeInfo& type) noexcept;

class ListBody {
 public:
  /// Decodes into `list`, an empty List of the field's type, and `metadata`. Both must outlive this
  /// object, and so must the budget, if there is one.
  ListBody(const FieldInfo& items, void* list, metav1::ListMeta& metadata,
           const DecodeOptions& options, std::size_t maxItemBytes, ListBudget* budget = nullptr);
  ~ListBody();
  ListBody(const ListBody&) = delete;
  ListBody& operator=(const ListBody&) = delete;

  /// Throws DecodeError; the list is then half-filled.
  void feed(std::string_view chunk);
  /// Throws DecodeError if the body is not complete.
  void finish();

 private:
  class Items;
  std::unique_ptr<Items> items_;
};

/// Decodes a complete body.
void decodeList(const TypeInfo& type, void* list, std::string_view body,
                const DecodeOptions& options);

}  // namespace kube::detail
