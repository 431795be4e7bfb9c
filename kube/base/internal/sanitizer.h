// Detects sanitizers. With the address sanitizer, source files take all memory from malloc, because
// the sanitizer does not track other memory. Tests do less with any sanitizer, because everything
// takes several times as long.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define KUBE_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define KUBE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KUBE_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define KUBE_THREAD_SANITIZER 1
#endif
#endif

namespace kube::detail {

#if defined(KUBE_ADDRESS_SANITIZER) || defined(KUBE_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// The number of repetitions in a test: an eighth of it with a sanitizer.
template <class Number>
constexpr Number testAmount(Number much) {
  return kSanitized ? much / 8 : much;
}

}  // namespace kube::detail
