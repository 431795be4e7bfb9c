// The memory, threads and descriptors of this process, for people.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <string>

namespace kube::detail {

/// Some lines of text. Numbers that the system does not have are left out.
std::string describeProcess();

}  // namespace kube::detail
