// Makes the start of threads fail, for tests.
#pragma once

#include "kube/base/internal/start_thread.h"
#include "kube/base/log.h"

namespace kube::testing {

/// While this lives, only `allowed` more threads can be started, and log records are dropped.
class NoThreads {
 public:
  explicit NoThreads(int allowed = 0) { kube::detail::threadsAllowed = allowed; }
  ~NoThreads() {
    kube::detail::threadsAllowed = -1;
    setLogSink(before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  const LogSink before_ = setLogSink([](const LogRecord&) {});
};

}  // namespace kube::testing
