#include "kube/codec/patch/internal/strategic_schema.h"

#include <fmt/core.h>

#include "kube/codec/patch/patch_error.h"

namespace kube::detail {

namespace {

using Strategy = StrategicField::Strategy;

void readStrategy(const MergeInfo* merge, StrategicField& field) {
  if (merge == nullptr) return;
  field.mergeKey = merge->patchMergeKey;
  std::string_view rest = merge->patchStrategy;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word == "merge") field.strategy = Strategy::Merge;
    if (word == "replace") field.strategy = Strategy::Replace;
    if (word == "retainKeys") field.retainKeys = true;
  }
}

bool isMessage(const FieldInfo& field) {
  return field.kind == FieldKind::Message && field.type->form == JsonForm::Object;
}

}  // namespace

std::string_view StrategicSchema::name() const noexcept {
  return type_ != nullptr ? type_->name : "map";
}

const FieldInfo& StrategicSchema::field(std::string_view key) const {
  if (container_ != nullptr) return *container_;
  if (const FieldInfo* found = type_->field(key)) return *found;
  throw PatchError(
      PatchError::Reason::Malformed,
      fmt::format("unable to find api field in struct {} for the json field \"{}\"", name(), key));
}

StrategicField StrategicSchema::object(std::string_view key) const {
  const FieldInfo& info = field(key);
  // Inside of a map, the shape of its elements counts: they are plain.
  const Shape shape = container_ != nullptr ? Shape::Plain : info.shape;
  if (shape == Shape::Map) {
    StrategicField result{.inside = StrategicSchema(info)};
    readStrategy(info.merge, result);
    return result;
  }
  if (shape != Shape::List && isMessage(info)) {
    StrategicField result{.inside = StrategicSchema(*info.type)};
    if (container_ == nullptr) readStrategy(info.merge, result);
    return result;
  }
  const bool opaque = info.kind == FieldKind::Raw || info.kind == FieldKind::Value ||
                      info.kind == FieldKind::Message;
  if (shape != Shape::List && opaque) {
    return {.inside = StrategicSchema(info), .strategy = Strategy::Replace};
  }
  throw PatchError(
      PatchError::Reason::Malformed,
      fmt::format("{}.{}: found an object, which this field does not take", name(), key));
}

StrategicField StrategicSchema::list(std::string_view key) const {
  const FieldInfo& info = field(key);
  const bool plain =
      container_ != nullptr || info.shape == Shape::Plain || info.shape == Shape::Optional;
  StrategicField result{.inside =
                            isMessage(info) ? StrategicSchema(*info.type) : StrategicSchema(info)};
  if (container_ == nullptr) readStrategy(info.merge, result);
  if (!plain && info.shape == Shape::List) return result;
  if (plain && info.kind == FieldKind::Strings) return result;
  const bool opaque = info.kind == FieldKind::Raw || info.kind == FieldKind::Value ||
                      (info.kind == FieldKind::Message && !isMessage(info));
  if (plain && opaque) {
    result.strategy = Strategy::Replace;
    return result;
  }
  throw PatchError(PatchError::Reason::Malformed,
                   fmt::format("{}.{}: found a list, which this field does not take", name(), key));
}

}  // namespace kube::detail
