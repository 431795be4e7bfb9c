#include "kube/base/version.h"

// Written by cmake/GitCommit.cmake: #define KUBEXX_GIT_COMMIT "..."
#include "kubexx_git_commit.h"

namespace kube {

std::string_view version() noexcept { return KUBEXX_VERSION; }

std::string_view gitCommit() noexcept { return KUBEXX_GIT_COMMIT; }

}  // namespace kube
