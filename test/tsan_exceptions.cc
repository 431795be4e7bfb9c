// For the thread sanitizer: it does not see how the C++ runtime counts who holds an exception, and
// so takes one thread's freeing for a race with what another did with the exception before it let
// go. Here letting go takes a lock, which it does see.
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

// One of a few, by the exception: those of unrelated threads should stay unrelated. Recursive:
// exceptions may hold others.
std::recursive_mutex& lockOf(const void* exception) {
  static auto& locks = *new std::array<std::recursive_mutex, 256>;
  return locks[reinterpret_cast<std::uintptr_t>(exception) / 64 % locks.size()];
}

}  // namespace

// std::exception_ptr's destructor calls this; a pointer to the exception is all that it holds.
extern "C" void letGo(void** pointer) noexcept
    asm("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");

extern "C" void letGo(void** pointer) noexcept {
  static const auto really =
      next<void (*)(void**)>("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
  const std::lock_guard lock(lockOf(*pointer));
  really(pointer);
}

// The end of a catch block lets go too; what frees the exception is then the pointer.
extern "C" void __cxa_end_catch() {
  static const auto really = next<void (*)()>("__cxa_end_catch");
  const std::exception_ptr held = std::current_exception();
  really();
}
