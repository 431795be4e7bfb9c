// Credentials from a program: the exec plugins of client.authentication.k8s.io/v1 and v1beta1.
#pragma once

#include <memory>

#include "kube/rest/internal/credential_source.h"

namespace kube::detail {

/// For config.exec. Throws ConfigError if it makes no sense.
std::unique_ptr<CredentialSource> execSource(const Config& config, Clock& clock,
                                             const CredentialsOptions& options);

}  // namespace kube::detail
