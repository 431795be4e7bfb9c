// Building blocks for the tables of built-in kinds: the columns of a kind as data, each with a
// small function that returns a cell.
//
//   constexpr TableColumn kSecrets[] = {
//       nameColumn<Secret>(),
//       text("Type", "what the data is for", [](const Secret& secret) { return secret.type; }),
//       wide(text("Keys", "...", [](const Secret& secret) { ... })),
//       ageColumn<Secret>(),
//   };
//   constexpr KindTable kTables[] = {kindTable<Secret>(kSecrets)};
//
// A column's function takes the object, and optionally the time, and returns a value that a Value
// can be made of. Columns and cells are those of kube-apiserver's printers. A server that sets
// defaults never shows a Service without a type. For objects without defaults, cells show the
// default where such a field is empty.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "kube/api/core/v1.h"
#include "kube/base/clock.h"
#include "kube/base/joined.h"
#include "kube/base/list.h"
#include "kube/base/shared.h"
#include "kube/base/string.h"
#include "kube/meta/internal/human_duration.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"
#include "kube/meta/value.h"

namespace kube::apiserver {

struct TableColumn {
  using Cell = Value (*)(const void* object, Clock::WallTime now);

  std::string_view name;
  std::string_view type = "string";
  std::string_view format = "";
  std::string_view description = "";
  std::int32_t priority = 0;  // 1: shown by -o wide only
  Cell cell = nullptr;
};

/// The columns and rows of objects of one type.
struct KindTable {
  const TypeInfo* type;
  std::span<const TableColumn> columns;
  /// The conditions of an object's row; null if the kind has none.
  List<metav1::TableRowCondition> (*conditions)(const void* object) = nullptr;
  /// Compares two objects, for kinds whose rows are not in the list's order.
  bool (*before)(const void* a, const void* b) = nullptr;
  /// The object of a list whose name gets " (default)", or null.
  const void* (*defaultOf)(std::span<const void* const> objects) = nullptr;
};

// The type of a cell, from the function that makes it.
template <class R, class C, class T>
T subjectOf(R (C::*)(const T&) const);
template <class R, class C, class T>
T subjectOf(R (C::*)(const T&, Clock::WallTime) const);

template <class F>
constexpr TableColumn::Cell cellOf(F) {
  return [](const void* object, Clock::WallTime now) -> Value {
    using T = decltype(subjectOf(&F::operator()));
    const T& subject = *static_cast<const T*>(object);
    if constexpr (std::is_invocable_v<F, const T&, Clock::WallTime>) {
      return F{}(subject, now);
    } else {
      return F{}(subject);
    }
  };
}

template <class F>
constexpr TableColumn text(std::string_view name, std::string_view description, F cell) {
  return {.name = name, .description = description, .cell = cellOf(cell)};
}
template <class F>
constexpr TableColumn integer(std::string_view name, std::string_view description, F cell) {
  return {.name = name, .type = "integer", .description = description, .cell = cellOf(cell)};
}
template <class F>
constexpr TableColumn boolean(std::string_view name, std::string_view description, F cell) {
  return {.name = name, .type = "boolean", .description = description, .cell = cellOf(cell)};
}
constexpr TableColumn wide(TableColumn column) {
  column.priority = 1;
  return column;
}

template <class T>
constexpr TableColumn nameColumn() {
  return {.name = "Name",
          .format = "name",
          .description = "the object's name, unique within its namespace",
          .cell = cellOf([](const T& object) { return object.metadata.name; })};
}
template <class T>
constexpr TableColumn ageColumn() {
  return text("Age", "the time since the object was created",
              [](const T& object, Clock::WallTime now) {
                return detail::humanAge(object.metadata.creationTimestamp, now);
              });
}

template <class T>
constexpr KindTable kindTable(std::span<const TableColumn> columns) {
  return {.type = &TypeOf<T>::info, .columns = columns};
}

// --- Helpers for many cells.

/// The text, or a placeholder if it is empty.
inline String orElse(const String& text, std::string_view otherwise) {
  return text.empty() ? String(otherwise) : text;
}
inline String orElse(const std::optional<String>& text, std::string_view otherwise) {
  return text ? *text : String(otherwise);
}

/// "a,b,c + 4 more...": at most `shown` of them, then the number of the others.
template <class Range>
std::string firstOf(const Range& range, std::size_t shown, std::string_view separator = ",") {
  const auto size = static_cast<std::size_t>(std::size(range));
  std::string out = joined(std::span(std::data(range), std::min(size, shown)), separator);
  if (size > shown) out += " + " + std::to_string(size - shown) + " more...";
  return out;
}

/// "nginx,sidecar": the containers of a pod template.
std::string containerNames(const Shared<corev1::PodTemplateSpec>& pods);
std::string containerImages(const Shared<corev1::PodTemplateSpec>& pods);

// --- The tables, by subject.

std::span<const KindTable> podTables();
std::span<const KindTable> nodeTables();
std::span<const KindTable> coreTables();
std::span<const KindTable> eventTables();
std::span<const KindTable> serviceTables();
std::span<const KindTable> workloadTables();
std::span<const KindTable> autoscalingTables();
std::span<const KindTable> storageTables();
std::span<const KindTable> accessTables();
std::span<const KindTable> admissionTables();
std::span<const KindTable> schedulingTables();
std::span<const KindTable> machineryTables();
std::span<const KindTable> lifecycleTables();

}  // namespace kube::apiserver
