// A certificate with its private key, and checks of both when they are configured, so that a
// mistake is reported with its file and field and not as a failed handshake.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kube {

/// Both PEM.
struct KeyPair {
  std::string certPem, keyPem;
};

}  // namespace kube

namespace kube::detail {

/// Returns the mistake in a certificate (PEM, the leaf first) and its private key (PEM); empty if
/// they belong together. A key that needs a pass phrase is a mistake, because there is no user to
/// ask for it.
std::string_view keyPairProblem(std::string_view certificate, std::string_view key);

/// Returns the mistake in PEM text of certificate authorities; empty if there is none.
std::string_view authoritiesProblem(std::string_view certificates);

/// The time in which a certificate (PEM) is valid; none if that cannot be told.
struct CertificateLife {
  std::chrono::sys_seconds from, until;
};
std::optional<CertificateLife> certificateLife(std::string_view certificate);

}  // namespace kube::detail
