#include "kube/meta/schema_notes.h"

#include <algorithm>

#include "kube/base/error.h"

namespace kube {

std::string_view TypeNotes::text(std::string_view field) const noexcept {
  const auto at = std::ranges::find(texts, field, &SchemaText::field);
  return at != texts.end() ? at->json : std::string_view();
}

TypeNotes notesOf(const TypeInfo& type) {
  TypeNotes notes;
  if (type.annotate != nullptr) type.annotate(notes);
  return notes;
}

namespace detail {

const FieldInfo& fieldAtOffset(const TypeInfo& type, std::size_t offset) {
  const auto at = std::ranges::find(type.fields, offset, &FieldInfo::offset);
  if (at != type.fields.end()) return *at;
  throw Error(std::string(type.name) +
              ": a note on a member that is not described: add it to KUBE_DESCRIBE");
}

std::string_view columnType(const FieldInfo& field) noexcept {
  if (field.shape == Shape::List || field.shape == Shape::Map) return "string";
  switch (field.kind) {
    case FieldKind::Bool:
      return "boolean";
    case FieldKind::Int32:
    case FieldKind::Int64:
      return "integer";
    case FieldKind::Double:
      return "number";
    case FieldKind::Time:
    case FieldKind::MicroTime:
      return "date";
    default:
      return "string";
  }
}

}  // namespace detail

}  // namespace kube
