// A mutex and a lock for which clang checks at compile time that guarded members are used with the
// lock held.
//
//   mutable Mutex entriesMutex_;
//   std::map<int, Entry> entries_ KUBE_GUARDED_BY(entriesMutex_);
//   void dropLocked() KUBE_REQUIRES(entriesMutex_);  // for callers that hold the lock
//
//   const Lock lock(entriesMutex_);                  // until the end of the block
//   changed_.wait(lock, stop, [&]() KUBE_REQUIRES(entriesMutex_) { return !entries_.empty(); });
//
// A mutex is named after the members that it guards. `-Wthread-safety` of clang is an error in the
// sanitizer presets; for other compilers this is a plain std::mutex. Constructors and destructors
// are not checked, because no other thread has the object then.
#pragma once

#include <mutex>

#if defined(__clang__)
#define KUBE_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define KUBE_THREAD_ATTRIBUTE(x)
#endif

/// For a class: its objects are locked and unlocked.
#define KUBE_LOCKABLE(name) KUBE_THREAD_ATTRIBUTE(capability(name))
/// For a class: an object of it holds a lock while it lives.
#define KUBE_SCOPED_LOCK KUBE_THREAD_ATTRIBUTE(scoped_lockable)

/// For a member: it is read and written with the lock held.
#define KUBE_GUARDED_BY(mutex) KUBE_THREAD_ATTRIBUTE(guarded_by(mutex))
/// For a pointer: its target is read and written with the lock held.
#define KUBE_POINTEE_GUARDED_BY(mutex) KUBE_THREAD_ATTRIBUTE(pt_guarded_by(mutex))

/// For a function or lambda: the caller holds the lock.
#define KUBE_REQUIRES(...) KUBE_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define KUBE_REQUIRES_SHARED(...) KUBE_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
/// For a function: the caller does not hold the lock, because the function takes it.
#define KUBE_EXCLUDES(...) KUBE_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
/// For a function: it locks, or unlocks.
#define KUBE_ACQUIRES(...) KUBE_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define KUBE_ACQUIRES_SHARED(...) KUBE_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define KUBE_TRIES(...) KUBE_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define KUBE_RELEASES(...) KUBE_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define KUBE_RELEASES_SHARED(...) KUBE_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
/// For a function: it cannot be checked. A comment explains why it is correct.
#define KUBE_NOT_CHECKED KUBE_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace kube::detail {

class KUBE_LOCKABLE("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() KUBE_ACQUIRES() { mutex_.lock(); }
  void unlock() KUBE_RELEASES() { mutex_.unlock(); }
  bool try_lock() KUBE_TRIES(true) { return mutex_.try_lock(); }

 private:
  friend class Lock;
  std::mutex mutex_;
};

/// Holds a mutex until its end; it may be unlocked and locked again before. Converts to the
/// std::unique_lock in it, for condition variables and Clock::waitUntil().
class KUBE_SCOPED_LOCK Lock {
 public:
  explicit Lock(Mutex& mutex) KUBE_ACQUIRES(mutex) : lock_(mutex.mutex_) {}
  /// Takes over what try_lock() has locked.
  Lock(Mutex& mutex, std::adopt_lock_t adopt) KUBE_REQUIRES(mutex) : lock_(mutex.mutex_, adopt) {}
  ~Lock() KUBE_RELEASES() {}  // NOLINT(modernize-use-equals-default): attributes need a body
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() KUBE_ACQUIRES() { lock_.lock(); }
  void unlock() KUBE_RELEASES() { lock_.unlock(); }
  bool owns_lock() const noexcept { return lock_.owns_lock(); }

  operator std::unique_lock<std::mutex>&() noexcept { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace kube::detail
