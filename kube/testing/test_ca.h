// A certificate authority in memory, for servers of tests.
//
//   TestCa ca;
//   HttpServer server({.tls = ServerTls{ca.server({"localhost", "127.0.0.1"}), ca.certPem()}},
//                     handler);
//   Transport transport({.tls = {.caData = ca.certPem()}});
//
// Keys are elliptic (P-256), so making one takes well under a millisecond. Certificates are valid
// for twelve hours before and after their creation. Nothing is written to disk.
//
// Thread safety: immutable after construction.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kube/http/internal/key_pair.h"

namespace kube {

class TestCa {
 public:
  explicit TestCa(const std::string& name = "kubexx test CA");
  ~TestCa();
  TestCa(TestCa&&) noexcept;
  TestCa& operator=(TestCa&&) noexcept;

  const std::string& certPem() const;

  /// Issues a certificate for a server with these DNS names and addresses.
  KeyPair server(const std::vector<std::string>& names) const;
  /// Issues a certificate for a client. Kubernetes takes the common name for the user, and the
  /// organizations for its groups.
  KeyPair client(const std::string& commonName,
                 const std::vector<std::string>& organizations = {}) const;

 private:
  struct Identity;
  std::unique_ptr<Identity> identity_;
};

}  // namespace kube
