// A mutex that several readers or one writer hold, and its two locks, checked by clang as those of
// mutex.h are.
//
// For data that is read by calls which take their time. Where reading is short and frequent,
// readers on two cores are slower with it than with a Mutex: they write to the same word.
#pragma once

#include <shared_mutex>

#include "kube/base/internal/mutex.h"

namespace kube::detail {

class KUBE_LOCKABLE("mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock() KUBE_ACQUIRES() { mutex_.lock(); }
  void unlock() KUBE_RELEASES() { mutex_.unlock(); }
  void lock_shared() KUBE_ACQUIRES_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() KUBE_RELEASES_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

/// Holds a SharedMutex for reading until the end of the block.
class KUBE_SCOPED_LOCK SharedLock {
 public:
  explicit SharedLock(SharedMutex& mutex) KUBE_ACQUIRES_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~SharedLock() KUBE_RELEASES() { mutex_.unlock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  SharedMutex& mutex_;
};

/// Holds a SharedMutex for writing until the end of the block.
class KUBE_SCOPED_LOCK ExclusiveLock {
 public:
  explicit ExclusiveLock(SharedMutex& mutex) KUBE_ACQUIRES(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~ExclusiveLock() KUBE_RELEASES() { mutex_.unlock(); }
  ExclusiveLock(const ExclusiveLock&) = delete;
  ExclusiveLock& operator=(const ExclusiveLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace kube::detail
