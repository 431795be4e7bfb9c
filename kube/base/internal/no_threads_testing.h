// For tests: a process in which no more threads can be had.
#pragma once

#include "kube/base/internal/start_thread.h"
#include "kube/base/log.h"

namespace kube::testing {

/// As long as it lives, so many threads may be started yet; what is logged about it is not shown.
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
