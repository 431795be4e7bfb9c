// Credentials from an OpenID Connect provider: the id-token of a kubeconfig's auth provider "oidc",
// renewed with its refresh-token.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "kube/rest/internal/credential_source.h"

namespace kube::detail {

/// For config.authProvider. Throws ConfigError if it is not OIDC or is incomplete.
std::unique_ptr<CredentialSource> oidcSource(const Config& config, Clock& clock, HttpFetch fetch);

/// When a JSON Web Token expires: its claim `exp`, or long ago if it has none. Nothing if it is no
/// such token. Its signature is the API server's to check.
std::optional<Clock::WallTime> expiryOf(std::string_view token);

}  // namespace kube::detail
