// Objects as the rows of a table: the meta.k8s.io Table that `kubectl get` asks for.
//
//   TableFormat format(TypeOf<corev1::Pod>::info);                        // a built-in kind
//   TableFormat format(version.additionalPrinterColumns);                 // a custom resource
//   metav1::Table table = format.list(pods, {.resourceVersion = "42"}, {.now = clock.wallNow()});
//   std::string body = tableJson(table, "v1");
//
// Built-in kinds have kube-apiserver's columns and cells, in every version. A kind without columns
// of its own shows name and age; a custom resource shows its additionalPrinterColumns, or else name
// and age. Columns of priority 1 are those of `-o wide`; a table always has them.
//
// Thread safety: a TableFormat is immutable and cheap to copy; any thread may use it.
#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kube/api/apiextensions/v1.h"
#include "kube/base/clock.h"
#include "kube/base/list.h"
#include "kube/meta/any_object.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube::apiserver {

/// The part of its object that a row carries: the query parameter includeObject.
enum class IncludeObject { None, Metadata, Object };

/// Parses the parameter; "" is Metadata. nullopt for any other text.
std::optional<IncludeObject> parseIncludeObject(std::string_view text) noexcept;

struct TableOptions {
  Clock::WallTime now;  // ages are relative to this time
  IncludeObject includeObject = IncludeObject::Metadata;
  bool headers = true;  // column definitions; a watch sends them with its first event only
  std::string_view version = "v1";  // of meta.k8s.io, for the metadata in rows: v1 or v1beta1
};

class TableFormat {
 public:
  /// The format of a built-in or described kind.
  explicit TableFormat(const TypeInfo& type);
  /// The format of a custom resource. Throws DecodeError, which names the column, for an invalid
  /// JSONPath.
  explicit TableFormat(const List<apiextensionsv1::CustomResourceColumnDefinition>& columns);
  ~TableFormat();
  TableFormat(const TableFormat&) noexcept;
  TableFormat& operator=(const TableFormat&) noexcept;

  const List<metav1::TableColumnDefinition>& columns() const noexcept;

  /// Makes a table of one row, with the object's resourceVersion.
  metav1::Table object(const AnyObject& object, const TableOptions& options) const;

  /// Makes a table of many rows. The range holds AnyObjects, or pointers of any sort to them, all
  /// of the format's kind. `meta` is the metadata of the list.
  template <class Range>
  metav1::Table list(const Range& objects, const metav1::ListMeta& meta,
                     const TableOptions& options) const {
    std::vector<const AnyObject*> all;
    for (const auto& object : objects) {
      if constexpr (std::is_convertible_v<decltype(object), const AnyObject&>) {
        all.push_back(&object);
      } else {
        all.push_back(&*object);
      }
    }
    return listOf(std::move(all), meta, options);
  }

 private:
  struct State;

  metav1::Table rows(std::vector<const AnyObject*> objects, const metav1::ListMeta& meta,
                     const TableOptions& options) const;
  metav1::Table listOf(const std::vector<const AnyObject*>& objects, const metav1::ListMeta& meta,
                       const TableOptions& options) const;
  metav1::TableRow row(const AnyObject& object, const TableOptions& options) const;

  std::shared_ptr<const State> state_;
};

/// Encodes a Table of meta.k8s.io/v1 or v1beta1, which differ in name only.
std::string tableJson(const metav1::Table& table, std::string_view version = "v1");

/// Makes a PartialObjectMetadata of meta.k8s.io/v1 or v1beta1 from an object.
std::string partialObjectMetadataJson(const AnyObject& object, std::string_view version = "v1");

}  // namespace kube::apiserver
