// A fuzzer for patches with arbitrary text: a created patch turns one document into the other, and
// a refused patch is refused by an Error. The first byte selects the format, lines are the
// documents.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/apps/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/fuzz_support_testing.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/json_patch.h"
#include "kube/codec/patch/merge_patch.h"
#include "kube/codec/patch/patch.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/patch/strategic_merge.h"

namespace patch_fuzz {

using namespace kube;

template <class Act>
auto attempt(Act act) -> std::optional<decltype(act())> {
  try {
    return act();
  } catch (const DecodeError&) {
    return std::nullopt;
  } catch (const PatchError&) {
    return std::nullopt;
  }
}

void jsonPatch(const Value& a, const Value& b, std::string_view patchText) {
  constexpr JsonPatchLimits kNone{.maxOperations = 1'000'000};
  check(createJsonPatch(a, b).apply(a, kNone) == b);
  const auto patch = attempt([&] { return JsonPatch::parse(patchText); });
  if (!patch) return;
  // 1.0 is written as 1, so the second text is stable.
  const std::string written = JsonPatch::parse(patch->toJson()).toJson();
  check(JsonPatch::parse(written).toJson() == written);
  const auto after = attempt([&] { return patch->apply(a, {.maxCopyBytes = 100'000}); });
  if (after) check(toJson(*after).size() <= toJson(a).size() + patchText.size() * 8 + 800'000);
}

// A merge patch cannot set a member to null.
bool hasNulls(const Value& value) {
  for (const auto& [key, member] : value.asObject()) {
    if (member.isNull() || hasNulls(member)) return true;
  }
  return false;
}

void mergePatch(const Value& a, const Value& b, const Value& c) {
  if (!hasNulls(b)) check(applyMergePatch(a, createMergePatch(a, b)) == b);
  hasConflicts(a, b);
  attempt([&] { return applyMergePatch(c, createThreeWayJsonMergePatch(a, b, c)); });
}

// A strategic merge patch cannot express lists with repeated elements.
bool hasTwins(const Value& value) {
  static constexpr std::array<const char*, 9> kKeys = {
      "name", "containerPort", "port", "mountPath",  "devicePath",
      "type", "uid",           "ip",   "topologyKey"};
  const Value::Array& items = value.asArray();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (hasTwins(items[i])) return true;
    for (std::size_t k = 0; k < i; ++k) {
      if (!items[i].isObject() && items[i] == items[k]) return true;
      for (const char* key : kKeys) {
        if (!items[i][key].isNull() && items[i][key] == items[k][key]) return true;
      }
    }
  }
  return std::any_of(value.asObject().begin(), value.asObject().end(),
                     [](const auto& member) { return hasTwins(member.value); });
}

template <Described T>
void strategic(std::string_view first, std::string_view second, std::string_view third) {
  const auto a = attempt([&] { return fromJson<T>(first); });
  const auto b = attempt([&] { return fromJson<T>(second); });
  if (a) attempt([&] { return applyStrategicMergePatch(*a, second); });
  const auto patch = attempt([&] { return parseJson(third); });
  if (a && b) {
    const auto made = attempt([&] { return createTwoWayMergePatch(*a, *b); });
    const bool clear = !hasTwins(toUnstructured(*a).object) && !hasTwins(toUnstructured(*b).object);
    if (made && clear) check(applyStrategicMergePatch(*a, *made) == *b);
  }
  if (!a || !patch) return;
  const TypeInfo& type = TypeOf<T>::info;
  const Value live = toUnstructured(*a).object;
  attempt([&] { return applyStrategicMergePatch(live, *patch, type); });
  const auto last = attempt([&] { return parseJson(second); });
  if (!last) return;
  attempt([&] { return createStrategicMergePatch(*last, *patch, type); });
  attempt([&] { return hasConflicts(*last, *patch, type); });
  attempt([&] {
    const Value made =
        createThreeWayStrategicMergePatch(*last, *patch, live, type, {.overwrite = false});
    return applyStrategicMergePatch(live, made, type);
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 65'536) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::array<std::string_view, 3> texts;
  for (std::string_view& text : texts) {
    text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  }
  const auto kind = data[0] % 4;
  if (kind == 2) {
    strategic<corev1::Pod>(texts[0], texts[1], texts[2]);
  } else if (kind == 3) {
    strategic<appsv1::Deployment>(texts[0], texts[1], texts[2]);
  } else {
    const auto a = attempt([&] { return parseJson(texts[0]); });
    const auto b = attempt([&] { return parseJson(texts[1]); });
    const auto c = attempt([&] { return parseJson(texts[2]); });
    if (!a || !b) return 0;
    if (kind == 0) jsonPatch(*a, *b, texts[2]);
    if (kind == 1) mergePatch(*a, *b, c.value_or(Value()));
  }
  return 0;
}

}  // namespace patch_fuzz
