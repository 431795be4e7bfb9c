// Trust and identity of TLS connections to a server.
//
// The authority, certificate and key are each PEM text or the name of a file with it; if both are
// set, the text is used. Files are read again when they change, so new connections use rotated
// certificates.
#pragma once

#include <string>

namespace kube {

struct TlsConfig {
  std::string caData = {},
              caFile = {};  // trusted authorities; if both are empty, those of the system
  std::string certData = {}, certFile = {};
  std::string keyData = {}, keyFile = {};
  std::string serverName = {};      // used instead of the host's name, for the check and for SNI
  bool insecureSkipVerify = false;  // trusts any server: for tests only; excludes a CA

  bool operator==(const TlsConfig&) const = default;
};

}  // namespace kube
