// Runs a program and collects its output.
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
  /// NAME=value, in addition to this process's environment, which they override.
  std::vector<std::string> variables = {};
  bool passStdin = false;                         // otherwise it reads /dev/null
  Clock::Duration timeout;                        // of the program's run
  Clock::TimePoint deadline = Clock::noDeadline;  // of the waiting caller
  std::size_t maxOutput = 1 << 20;
};

struct ProcessResult {
  int exitCode = 0;
  int signal = 0;  // the signal that ended it, or 0
  std::string output;
};

/// Starts the program, collects its standard output (standard error is shared) and waits for its
/// end. The program is killed if a stop is requested (CanceledError), the timeout passes or it
/// writes too much (TransportError), the deadline passes (TimeoutError), or this process is killed.
/// A program that cannot be started is a ConfigError. Messages begin with `what`.
ProcessResult runProcess(const ProcessCall& call, std::string_view what, Clock& clock,
                         const std::stop_token& stop);

/// Returns the file of a command: the command itself if it has a slash, else the first program of
/// that name in $PATH; empty if there is none. Relative folders in $PATH are skipped.
std::string findProgram(const std::string& command);

}  // namespace kube::detail
