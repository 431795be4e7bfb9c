// <coroutine>, also with clang 14, which has coroutines but does not announce them.
#pragma once

#if defined(__clang__) && __clang_major__ < 15 && !defined(__cpp_impl_coroutine)
#define __cpp_impl_coroutine 201902L
#endif
#include <coroutine>  // IWYU pragma: export
