// Makes the reference counts of exceptions visible to the thread sanitizer. It does not see the C++
// runtime's counting, so it reports the thread that frees an exception as racing with an earlier
// use by another thread. These functions take a lock when they release an exception, which the
// sanitizer sees.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <exception>
#include <mutex>

namespace {

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Selects one of several locks by the exception, so that unrelated threads stay unrelated.
// Recursive, since exceptions may hold others.
std::recursive_mutex& lockOf(const void* exception) {
  static auto& locks = *new std::array<std::recursive_mutex, 256>;
  return locks[reinterpret_cast<std::uintptr_t>(exception) / 64 % locks.size()];
}

}  // namespace

// The destructor of std::exception_ptr calls this. An exception_ptr holds only a pointer to the
// exception.
extern "C" void letGo(void** pointer) noexcept
    asm("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");

extern "C" void letGo(void** pointer) noexcept {
  static const auto really =
      next<void (*)(void**)>("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
  const std::lock_guard lock(lockOf(*pointer));
  really(pointer);
}

// The end of a catch block also releases the exception. `held` keeps it until then, so that the
// function above frees it.
extern "C" void __cxa_end_catch() {
  static const auto really = next<void (*)()>("__cxa_end_catch");
  const std::exception_ptr held = std::current_exception();
  really();
}
