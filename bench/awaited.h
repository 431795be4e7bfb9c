// Calls and handlers without threads of their own.
#pragma once

#include <string>

namespace kube::bench {

/// Makes `count` GETs from one thread with coroutines, `inFlight` at a time; or, if `blocking`, the
/// same with as many threads that block.
int awaitedGets(int count, int inFlight, bool blocking);

/// Fills an informer of pods whose handlers run on the program's own io_context with one thread,
/// and measures how long that thread is kept from other work.
int stall(const std::string& mode);

}  // namespace kube::bench
