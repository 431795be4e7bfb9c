// A fuzzer for JSON with arbitrary text: a decoded value is written and read back without change,
// and a pool changes nothing. The first byte selects the type.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/apiextensions/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/fuzz_support_testing.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"

namespace json_fuzz {

using namespace kube;

template <class Decode>
auto attempt(Decode decode) -> std::optional<decltype(decode())> {
  try {
    return decode();
  } catch (const DecodeError&) {
    return std::nullopt;
  }
}

template <Described T>
void run(std::string_view text) {
  Pool& pool = longLivedPool();
  std::vector<std::string> problems;
  const auto first = attempt([&] { return fromJson<T>(text); });
  const auto pooled = attempt([&] { return fromJson<T>(text, {.pool = &pool}); });
  const auto strict = attempt([&] { return fromJson<T>(text, {.problems = &problems}); });
  check(first == pooled && first == strict);
  if (!first) return;

  const std::string written = toJson(*first);
  check(written == toJson(*pooled));
  const T second = fromJson<T>(written, {.strict = true});
  check(second == *first && toJson(second) == written);
  check(fromJson<T>(toJson(*first, 2)) == *first);
}

void runValue(std::string_view text) {
  Pool& pool = longLivedPool();
  const auto first = attempt([&] { return parseJson(text); });
  const auto pooled = attempt([&] { return parseJson(text, {.pool = &pool}); });
  check(first == pooled);
  if (!first) return;

  // 1.0 is written as 1, which reads as an integer; after that nothing changes.
  const Value second = parseJson(toJson(*first));
  const std::string written = toJson(second);
  check(parseJson(written) == second && parseJson(toJson(second, 2)) == second);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      run<corev1::Pod>(text);
      break;
    case 1:
      run<apiextensionsv1::CustomResourceDefinition>(text);
      break;
    case 2:
      run<metav1::Status>(text);
      break;
    default:
      runValue(text);
  }
  return 0;
}

}  // namespace json_fuzz
