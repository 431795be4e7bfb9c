// Objects as the rows of a table: the meta.k8s.io Table that `kubectl get` asks for.
//
//   TableFormat format(TypeOf<corev1::Pod>::info);                        // a built-in kind
//   TableFormat format(version.additionalPrinterColumns);                 // a custom resource
//   metav1::Table table = format.list(pods, {.resourceVersion = "42"}, {.now = clock.wallNow()});
//   std::string body = tableJson(table, "v1");
//
// Built-in kinds have kube-apiserver's columns and cells, in every version of a kind; kinds that it
// has no columns for show name and time of creation, custom resources their
// additionalPrinterColumns or else name and age. Columns of priority 1 are those of `-o wide`; a
// table always has them.
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

/// How much of its object a row carries: the query parameter includeObject.
enum class IncludeObject { None, Metadata, Object };

/// Of the parameter's text; "" is Metadata. Nothing for any other text.
std::optional<IncludeObject> parseIncludeObject(std::string_view text) noexcept;

struct TableOptions {
  Clock::WallTime now;  // what ages are counted to
  IncludeObject includeObject = IncludeObject::Metadata;
  bool headers = true;              // column definitions; in a watch, only its first event has them
  std::string_view version = "v1";  // of meta.k8s.io, for the metadata in rows: v1 or v1beta1
};

class TableFormat {
 public:
  /// Of a built-in or described kind.
  explicit TableFormat(const TypeInfo& type);
  /// Of a custom resource. Throws DecodeError, naming the column, where a JSONPath is none.
  explicit TableFormat(const List<apiextensionsv1::CustomResourceColumnDefinition>& columns);
  ~TableFormat();
  TableFormat(const TableFormat&) noexcept;
  TableFormat& operator=(const TableFormat&) noexcept;

  const List<metav1::TableColumnDefinition>& columns() const noexcept;

  /// A table of one row, with the object's resourceVersion.
  metav1::Table object(const AnyObject& object, const TableOptions& options) const;

  /// A table of many. The range holds AnyObjects, or pointers of any sort to them; all are of the
  /// format's kind. `meta` is the list's.
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
    return rows(std::move(all), meta, options);
  }

 private:
  struct State;

  metav1::Table rows(std::vector<const AnyObject*> objects, const metav1::ListMeta& meta,
                     const TableOptions& options) const;
  metav1::TableRow row(const AnyObject& object, const TableOptions& options) const;

  std::shared_ptr<const State> state_;
};

/// A Table of meta.k8s.io/v1 or v1beta1, which differ in name only.
std::string tableJson(const metav1::Table& table, std::string_view version = "v1");

/// An object's metadata alone, as a PartialObjectMetadata of meta.k8s.io/v1 or v1beta1.
std::string partialObjectMetadataJson(const AnyObject& object, std::string_view version = "v1");

}  // namespace kube::apiserver
