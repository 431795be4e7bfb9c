// YAML under arbitrary text. Decoded text gives valid JSON with places inside of the text, and
// survives a round trip through toYaml. All other text gives a DecodeError with a place.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/v1.h"

namespace yaml_fuzz {

using kube::Value;

void check(bool holds) {
  if (!holds) std::abort();
}

// Whole doubles become integers in a round trip, since JSON shows no difference.
bool same(const Value& a, const Value& b) {
  if (a.isNumber() && b.isNumber()) return a.asDouble() == b.asDouble();
  if (a.isArray() && b.isArray()) {
    if (a.asArray().size() != b.asArray().size()) return false;
    for (std::size_t i = 0; i < a.asArray().size(); ++i) {
      if (!same(a[i], b[i])) return false;
    }
    return true;
  }
  if (a.isObject() && b.isObject()) {
    if (a.asObject().size() != b.asObject().size()) return false;
    for (const auto& [key, value] : a.asObject()) {
      if (!b.asObject().contains(key) || !same(value, b[key.view()])) return false;
    }
    return true;
  }
  return a == b;
}

// True if the nesting is within YAML's limit, which is lower than JSON's.
bool isShallow(const Value& value, int depth = 0) {
  if (depth > 200) return false;
  for (const Value& item : value.asArray()) {
    if (!isShallow(item, depth + 1)) return false;
  }
  for (const auto& [key, member] : value.asObject()) {
    if (!isShallow(member, depth + 1)) return false;
  }
  return true;
}

void checkRoundTrip(const Value& value) {
  if (!isShallow(value)) return;
  const std::string yaml = kube::toYaml(value);
  const Value again = kube::parseYaml(yaml);
  check(same(value, again));
  check(kube::toYaml(again) == yaml);
}

void checkDocument(const kube::YamlDocument& document, std::string_view text) {
  check(document.offset <= text.size());
  for (std::size_t i = 0; i < document.marks.size(); ++i) {
    check(document.marks[i].offset <= text.size() && document.marks[i].line > 0);
    check(i == 0 || document.marks[i - 1].json <= document.marks[i].json);
  }
  document.type();
  checkRoundTrip(document.value());
  try {
    document.as<kube::metav1::PartialObjectMetadata>({.strict = true});
  } catch (const kube::DecodeError& e) {
    check(e.format() == "yaml" && e.offset().value_or(0) <= text.size());
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Aliases may grow 16 KB to megabytes, which is allowed but slow.
  if (size > 16'384) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool expand : {false, true}) {
    try {
      const auto documents = kube::splitYaml(text, {.expandLists = expand});
      std::size_t total = 0;
      for (const auto& document : documents) total += document.json.size();
      if (total > 200'000) return 0;
      for (const auto& document : documents) checkDocument(document, text);
    } catch (const kube::DecodeError& e) {
      check(e.format() == "yaml" && e.offset() && *e.offset() <= size && e.line() > 0);
    }
  }
  return 0;
}

}  // namespace yaml_fuzz
