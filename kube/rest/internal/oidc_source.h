// Credentials from an OpenID Connect provider: the id-token of a kubeconfig's auth provider "oidc",
// renewed by its refresh-token.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "kube/rest/internal/credential_source.h"

namespace kube::detail {

/// Makes the source for config.authProvider. Throws ConfigError if it is not OIDC or is incomplete.
std::unique_ptr<CredentialSource> oidcSource(const Config& config, Clock& clock, HttpFetch fetch);

/// Returns when a JSON Web Token expires: its claim `exp`, or a time long ago if it has none.
/// Returns nothing for malformed tokens. The signature is checked by the API server only.
std::optional<Clock::WallTime> expiryOf(std::string_view token);

}  // namespace kube::detail
