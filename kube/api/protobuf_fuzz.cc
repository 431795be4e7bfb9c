// A fuzzer for protobuf with arbitrary bytes: a decoded object is written and read back without
// change, also through JSON, and a pool changes nothing. The first byte selects the type, and
// whether the rest is a whole body or an object without its envelope.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/api/apiextensions/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/fuzz_support_testing.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"

namespace protobuf_fuzz {

using namespace kube;

std::string enveloped(std::string_view raw) {
  std::string body(kProtobufMagic);
  body += '\x12';
  std::size_t size = raw.size();
  for (; size >= 0x80; size >>= 7) body += static_cast<char>(size | 0x80);
  body += static_cast<char>(size);
  return body.append(raw);
}

template <class T>
std::optional<T> attempt(std::string_view body, Pool* pool) {
  try {
    return fromProtobuf<T>(body, {.pool = pool});
  } catch (const DecodeError&) {
    return std::nullopt;
  }
}

// Raw bytes and NaN have no JSON form, and JSON has no years after 9999.
template <class T>
void runJson(const T& object) {
  std::string written;
  try {
    written = toJson(object);
  } catch (const Error&) {
    return;
  }
  std::string again;
  try {
    again = toJson(fromJson<T>(written));
  } catch (const DecodeError& error) {
    const std::string& reason = error.reason();
    check(reason.find("expected a time") == 0 || reason == "nested too deeply");
    return;
  }
  check(toJson(fromJson<T>(again)) == again);
}

template <class T>
void run(std::string_view body) {
  const auto first = attempt<T>(body, nullptr);
  const auto pooled = attempt<T>(body, &longLivedPool());
  check(first.has_value() == pooled.has_value());
  if (!first) return;

  const std::string written = toProtobuf(*first);
  check(toProtobuf(*pooled) == written);
  const auto second = fromProtobuf<T>(written);
  check(toProtobuf(second) == written);
  // Two decoded objects share nothing, so they differ if there is a NaN, and only then.
  if (fromProtobuf<T>(written) == second) check(second == *first && *pooled == *first);
  runJson(*first);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string body = (data[0] & 0x80) != 0 ? std::string(rest) : enveloped(rest);
  switch (data[0] % 4) {
    case 0:
      run<corev1::Pod>(body);
      break;
    case 1:
      run<apiextensionsv1::CustomResourceDefinition>(body);
      break;
    case 2:
      run<metav1::Status>(body);
      break;
    default:
      run<corev1::PodList>(body);
  }
  return 0;
}

}  // namespace protobuf_fuzz
