// <coroutine>, also with clang 14, which has coroutines but does not announce them.
#pragma once

#if defined(__clang__) && __clang_major__ < 15 && !defined(__cpp_impl_coroutine)
#define __cpp_impl_coroutine 201902L
#endif
#include <coroutine>  // IWYU pragma: export

/// For a function that suspends a coroutine, which another thread may resume before the function
/// has returned. clang before version 17 would put its variables into the coroutine's frame, which
/// may be gone by then.
#define KUBE_SUSPENDS __attribute__((noinline))
