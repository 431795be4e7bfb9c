// Credentials from an exec plugin (client.authentication.k8s.io/v1 and v1beta1).
#pragma once

#include <memory>

#include "kube/rest/internal/credential_source.h"

namespace kube::detail {

/// Makes the source for config.exec. Throws ConfigError if its settings are wrong.
std::unique_ptr<CredentialSource> execSource(const Config& config, Clock& clock,
                                             const CredentialsOptions& options);

}  // namespace kube::detail
