// What a TLS connection to a server is checked with and proves itself by.
//
// Each of CA, certificate and key is PEM text or the name of a file with it; text wins. Files are
// read again when they change, so rotated certificates are picked up by new connections.
#pragma once

#include <string>

namespace kube {

struct TlsConfig {
  std::string caData = {}, caFile = {};  // whom to trust; none of both: the system's authorities
  std::string certData = {}, certFile = {};
  std::string keyData = {}, keyFile = {};
  std::string serverName = {};      // checked and sent instead of the host's name
  bool insecureSkipVerify = false;  // trusts any server: for tests only, and without a CA

  bool operator==(const TlsConfig&) const = default;
};

}  // namespace kube
