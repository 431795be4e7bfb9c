// Collects log records during its life, for tests.
#pragma once

#include <mutex>
#include <string>

#include "kube/base/log.h"

namespace kube::testing {

class Logged {
 public:
  explicit Logged(LogLevel level = LogLevel::Warning) { setLogLevel(level); }
  ~Logged() {
    setLogLevel(levelBefore_);
    setLogSink(before_);
  }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;

  /// The records, one line each.
  std::string text() const {
    const std::lock_guard lock(textMutex_);
    return text_;
  }

 private:
  mutable std::mutex textMutex_;
  std::string text_;
  const LogLevel levelBefore_ = logLevel();
  const LogSink before_ = setLogSink([this](const LogRecord& record) {
    const std::lock_guard lock(textMutex_);
    text_ += formatLogLine(record) + "\n";
  });
};

}  // namespace kube::testing
