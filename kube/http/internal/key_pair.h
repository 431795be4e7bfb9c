// A certificate with its private key, and checks of both when they are configured, so that a
// mistake is reported with its file and field and not as a failed handshake.
#pragma once

#include <string>
#include <string_view>

namespace kube {

/// Both PEM.
struct KeyPair {
  std::string certPem, keyPem;
};

}  // namespace kube

namespace kube::detail {

/// What is wrong with a certificate (PEM, the leaf first) and its private key (PEM); empty if they
/// belong together. A key that needs a pass phrase is wrong: nobody could be asked for it.
std::string_view keyPairProblem(std::string_view certificate, std::string_view key);

/// What is wrong with PEM text that should hold certificate authorities; empty if nothing.
std::string_view authoritiesProblem(std::string_view certificates);

}  // namespace kube::detail
