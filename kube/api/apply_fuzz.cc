// A fuzzer for field sets and server-side apply with arbitrary text. Sets obey the laws of sets and
// survive their text form; applying twice changes nothing the second time. The first byte selects
// the test, lines are the documents.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/api/apps/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/fuzz_support_testing.h"
#include "kube/base/error.h"
#include "kube/codec/apply/apply.h"
#include "kube/codec/apply/object_fields.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"

namespace apply_fuzz {

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

void sets(std::string_view first, std::string_view second) {
  const auto a = attempt([&] { return FieldSet::parse(first); });
  if (!a) return;
  // A number in an element may be written in another form than it was read, which then stays.
  const FieldSet again = FieldSet::parse(a->toJson());
  check(again == *a);
  check(again.toJson() == FieldSet::parse(again.toJson()).toJson());
  std::size_t count = 0;
  for (const FieldSet::Path& path : a->paths()) {
    check(a->has(path));
    toString(path);
    ++count;
  }
  check(count == a->size() && (count == 0) == a->empty());
  check(a->leaves().difference(*a).empty());

  const auto b = attempt([&] { return FieldSet::parse(second); });
  if (!b) return;
  const FieldSet both = a->intersection(*b);
  const FieldSet all = a->union_(*b);
  check(both == b->intersection(*a) && all == b->union_(*a));
  check(a->difference(*b).union_(both) == *a);
  check(a->difference(*b).intersection(*b).empty());
  check(a->recursiveDifference(*b).difference(a->difference(*b)).empty());
  check(all.size() + both.size() == a->size() + b->size());
}

void apply(const Value& live, const Value& config, const TypeInfo* schema) {
  const String version = config["apiVersion"].asString();
  const FieldManager me{.name = "me", .apiVersion = version, .time = Time::fromUnix(1'700'000'000)};
  const auto first = attempt([&] { return applyPatch(live, config, schema, me, true); });
  if (first) {
    check(first->conflicts.empty());
    const ApplyResult second = applyPatch(first->object, config, schema, me);
    check(second.conflicts.empty());
    check(!second.changed);
    check(second.object == first->object);
    attempt([&] { return extract(first->object, schema, "me"); });
  }
  attempt([&] { return applyPatch(live, config, schema, me).conflictMessage(); });

  const FieldManager other{.name = "other", .apiVersion = "v1", .time = me.time};
  const Value updated = updateManagedFields(live, config, schema, other);
  check(updated["spec"] == config["spec"]);
  const auto set = attempt([&] { return fieldsOf(live, schema); });
  if (!set) return;
  removeItems(live, *set, schema);
  extractItems(live, *set, schema);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 65'536) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::array<std::string_view, 2> texts;
  for (std::string_view& text : texts) {
    text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  }
  if (data[0] % 4 == 0) {
    sets(texts[0], texts[1]);
    return 0;
  }
  const auto live = attempt([&] { return parseJson(texts[0]); });
  const auto config = attempt([&] { return parseJson(texts[1]); });
  if (!live || !config || !(live->isObject() || live->isNull()) || !config->isObject()) return 0;
  const std::array<const TypeInfo*, 3> schemas = {nullptr, &TypeOf<corev1::Pod>::info,
                                                  &TypeOf<appsv1::Deployment>::info};
  apply(*live, *config, schemas[data[0] % 4 - 1U]);
  return 0;
}

}  // namespace apply_fuzz
