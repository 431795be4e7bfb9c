// Whether the address sanitizer is at work, for source files that then get their memory otherwise:
// it sees into nothing that malloc has not given.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define KUBE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KUBE_SANITIZED 1
#endif
#endif
