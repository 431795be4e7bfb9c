// Running a program for its output.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/clock.h"

namespace kube::detail {

struct ProcessCall {
  std::string program;  // the path of its file
  std::vector<std::string> args = {};
  /// NAME=value, besides this process's own, over which they win.
  std::vector<std::string> variables = {};
  bool passStdin = false;                         // otherwise it reads nothing
  Clock::Duration timeout;                        // of the program
  Clock::TimePoint deadline = Clock::noDeadline;  // of whoever waits for it
  std::size_t maxOutput = 1 << 20;
};

struct ProcessResult {
  int exitCode = 0;
  int signal = 0;  // what ended it, if one did
  std::string output;
};

/// Starts the program, collects its standard output (standard error is shared) and waits for its
/// end. It is killed when a stop is requested (CanceledError), the timeout passes or it writes too
/// much (TransportError), the deadline comes (TimeoutError), or this process is killed. That it
/// cannot be started is a ConfigError. Messages begin with `what`.
ProcessResult runProcess(const ProcessCall& call, std::string_view what, Clock& clock,
                         const std::stop_token& stop);

/// The file of a command: itself if it holds a slash, else the first program of that name in $PATH.
/// Empty if there is none. Folders in $PATH that are not absolute are passed over.
std::string findProgram(const std::string& command);

}  // namespace kube::detail
