// Feeds arbitrary text as schemas and objects. A schema is refused or compiled; then pruning and
// defaulting are idempotent, and no check, apply or ratchet crashes or takes long. Lines of the
// input: the schema, an object, an object that it replaces.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/apiserver/schema/structural_schema.h"
#include "kube/base/error.h"
#include "kube/codec/apply/apply.h"
#include "kube/codec/apply/object_fields.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"

namespace structural_schema_fuzz {

using namespace kube;

void check(bool holds) {
  if (!holds) std::abort();
}

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

void useSchema(const kube::apiserver::StructuralSchema& schema, Value object, const Value& old) {
  std::vector<std::string> unknown;
  const bool pruned = attempt([&] {
                        schema.prune(object, &unknown);
                        return true;
                      }).has_value();
  if (pruned) {
    std::vector<std::string> again;
    Value copy = object;
    schema.prune(copy, &again);
    check(again.empty() && copy == object);
  }
  schema.setDefaults(object);
  Value copy = object;
  schema.setDefaults(copy);
  check(copy == object);

  toString(schema.validate(object));
  // Unchanged values are accepted, except for kind and apiVersion at the root.
  schema.validate(object, &object);
  schema.validate(object, &old);
  schema.validateStatus(object, old);

  if (!pruned) return;
  object["metadata"]["name"] = "x";  // server-side apply needs a name
  const FieldManager me{.name = "me", .apiVersion = object["apiVersion"].asString()};
  if (const auto first =
          attempt([&] { return applyPatch(nullptr, object, &schema.fields(), me); })) {
    const ApplyResult second = applyPatch(first->object, object, &schema.fields(), me);
    check(second.conflicts.empty() && !second.changed);
  }
  attempt([&] { return fieldsOf(object, &schema.fields()); });
  updateManagedFields(old, object, &schema.fields(), me);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65'536) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 3> texts;
  for (std::string_view& text : texts) {
    text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
  }
  const auto props = attempt([&] { return fromJson<apiextensionsv1::JSONSchemaProps>(texts[0]); });
  if (!props) return 0;
  const FieldErrors errors = kube::apiserver::StructuralSchema::check(*props, ErrorPath("schema"));
  toString(errors);
  if (!errors.empty()) return 0;
  const kube::apiserver::StructuralSchema schema(*props);
  const auto object = attempt([&] { return parseJson(texts[1]); });
  const auto old = attempt([&] { return parseJson(texts[2]); });
  if (object && object->isObject()) {
    useSchema(schema, *object, old && old->isObject() ? *old : Value(Value::Object()));
  }
  return 0;
}

}  // namespace structural_schema_fuzz
