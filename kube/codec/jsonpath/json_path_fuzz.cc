// JSONPath under arbitrary templates. An invalid template is a DecodeError with a place in it. A
// valid one finds the same values in an object and in its JSON, or fails in the same way. The JSON
// of a Widget may follow the template, after a zero byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/error.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/jsonpath/json_path.h"

namespace json_path_fuzz {

using namespace kube;
using everykind::Widget;

void check(bool holds) {
  if (!holds) std::abort();
}

struct Outcome {
  std::vector<std::string> found;  // as JSON; 1.0 and 1 are the same there
  std::string failure;
  bool tooMuch() const { return failure.find("maxVisited") != std::string::npos; }
};

template <class Object>
Outcome find(const JsonPath& path, const Object& object, const JsonPathOptions& options) {
  Outcome outcome;
  try {
    for (const Value& value : path.find(object, options)) {
      outcome.found.push_back(toJson(parseJson(toJson(value))));
    }
  } catch (const Error& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

template <class Object>
std::optional<std::string> print(const JsonPath& path, const Object& object,
                                 const JsonPathOptions& options) {
  try {
    return path.print(object, options);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void evaluate(const JsonPath& path, const Widget& widget, const Value& json) {
  for (const bool allowMissingKeys : {false, true}) {
    const JsonPathOptions options{.allowMissingKeys = allowMissingKeys, .maxVisited = 20'000};
    const Outcome typed = find(path, widget, options);
    const Outcome dynamic = find(path, json, options);
    if (typed.tooMuch() || dynamic.tooMuch()) continue;
    check(typed.failure == dynamic.failure);
    check(typed.found == dynamic.found);
    const auto printed = print(path, json, options);
    if (!printed) continue;  // printing the text may have exceeded the limit
    check(typed.failure.empty());
    check(print(path, json, options) == printed);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 8'192) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = std::min(input.find('\0'), input.size());
  // A separate copy, so that reading past its end is detected.
  const std::string text(input.substr(0, zero));
  try {
    JsonPath::parse(relaxedJsonPath(text));
  } catch (const DecodeError&) {
  }
  std::optional<JsonPath> path;
  try {
    path = JsonPath::parse(text);
  } catch (const DecodeError& error) {
    check(error.format() == "jsonpath" && error.offset() && *error.offset() <= text.size());
    return 0;
  }
  if (zero == input.size()) {
    static const Widget widget = [] {
      everykind::Random random(1);
      Widget filled = random.widget(true);
      filled.spec = random.every(2, true);
      filled.tree = random.tree(3);
      return filled;
    }();
    static const Value json = parseJson(toJson(widget));
    evaluate(*path, widget, json);
    return 0;
  }
  try {
    const auto widget = fromJson<Widget>(input.substr(zero + 1));
    evaluate(*path, widget, parseJson(toJson(widget)));
  } catch (const DecodeError&) {
  }
  return 0;
}

}  // namespace json_path_fuzz
