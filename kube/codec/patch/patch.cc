#include "kube/codec/patch/patch.h"

#include <fmt/core.h>

#include <array>
#include <ostream>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/merge_patch.h"
#include "kube/codec/patch/strategic_merge.h"
#include "kube/codec/unstructured.h"

namespace kube {

namespace {

struct Names {
  std::string_view word, contentType;
};
constexpr std::array<Names, 4> kPatchTypes = {
    {{"json", "application/json-patch+json"},
     {"merge", "application/merge-patch+json"},
     {"strategic", "application/strategic-merge-patch+json"},
     {"apply", "application/apply-patch+yaml"}}};

const Names& namesOf(PatchType type) noexcept {
  return kPatchTypes[static_cast<std::size_t>(type)];
}

bool sameIgnoringCase(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view kSpace = " \t";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

std::string_view toString(PatchType type) noexcept { return namesOf(type).word; }

std::ostream& operator<<(std::ostream& out, PatchType type) { return out << toString(type); }

std::optional<PatchType> parsePatchType(std::string_view word) noexcept {
  for (std::size_t i = 0; i < kPatchTypes.size(); ++i) {
    if (kPatchTypes[i].word == word) return static_cast<PatchType>(i);
  }
  return std::nullopt;
}

std::string_view contentType(PatchType type) noexcept { return namesOf(type).contentType; }

std::optional<PatchType> patchTypeOf(std::string_view contentType) noexcept {
  const std::string_view type = trimmed(contentType.substr(0, contentType.find(';')));
  for (std::size_t i = 0; i < kPatchTypes.size(); ++i) {
    if (sameIgnoringCase(kPatchTypes[i].contentType, type)) return static_cast<PatchType>(i);
  }
  return std::nullopt;
}

PatchType mergePatchType(const TypeInfo& type) noexcept {
  return type.wire.empty() ? PatchType::Merge : PatchType::StrategicMerge;
}

std::string createTwoWayMergePatch(const TypeInfo& type, const void* before, const void* after,
                                   const MergePatchOptions& options) {
  const PatchType form = options.type.value_or(mergePatchType(type));
  if (form != PatchType::Merge &&
      (form != PatchType::StrategicMerge || form != mergePatchType(type))) {
    throw Error(fmt::format("{} has no {} patch between two objects", type.name, toString(form)));
  }
  const Value original = toUnstructured(type, before).object;
  const Value modified = toUnstructured(type, after).object;
  Value patch = form == PatchType::Merge ? createMergePatch(original, modified)
                                         : createStrategicMergePatch(original, modified, type);
  if (options.optimisticLock && !patch.asObject().empty()) {
    const Value& version = original["metadata"]["resourceVersion"];
    if (version.asString().empty()) {
      throw Error(
          fmt::format("{}: a patch with an optimistic lock needs the resourceVersion of the "
                      "object that was read",
                      type.name));
    }
    patch["metadata"]["resourceVersion"] = version;
  }
  return toJson(patch);
}

std::string createTwoWayMergePatch(const AnyObject& before, const AnyObject& after) {
  if (&before.type() != &after.type()) {
    throw Error(std::string("a patch needs two objects of the same type, found ")
                    .append(before.type().name)
                    .append(" and ")
                    .append(after.type().name));
  }
  return createTwoWayMergePatch(before.type(), before.data(), after.data());
}

}  // namespace kube
