#include "kube/http/internal/key_pair.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include <ctime>

#include "kube/http/internal/pem.h"

namespace kube::detail {
namespace {

// OpenSSL keeps errors per thread: removes those of this block, so that other code does not find
// them.
struct ErrorsKept {
  ErrorsKept() { ERR_set_mark(); }
  ~ErrorsKept() { ERR_pop_to_mark(); }
};

Certificate firstCertificate(std::string_view text) {
  const Bio bio = pemReader(text);
  return bio ? nextCertificate(bio.get(), PemUse::Check) : nullptr;
}

}  // namespace

std::string_view keyPairProblem(std::string_view certificate, std::string_view key) {
  const ErrorsKept errors;
  const Certificate leaf = firstCertificate(certificate);
  if (!leaf) return "the certificate is not PEM text with a certificate";
  const PrivateKey own = privateKey(key, PemUse::Check);
  if (!own) return "the key is not PEM text with a private key that needs no pass phrase";
  if (X509_check_private_key(leaf.get(), own.get()) != 1) {
    return "the key does not belong to the certificate";
  }
  return {};
}

std::string_view authoritiesProblem(std::string_view certificates) {
  const ErrorsKept errors;
  return firstCertificate(certificates) ? std::string_view{}
                                        : "not PEM text with at least one certificate";
}

std::optional<CertificateLife> certificateLife(std::string_view certificate) {
  const ErrorsKept errors;
  const Certificate leaf = firstCertificate(certificate);
  std::tm from{};
  std::tm until{};
  if (!leaf || ASN1_TIME_to_tm(X509_get0_notBefore(leaf.get()), &from) != 1 ||
      ASN1_TIME_to_tm(X509_get0_notAfter(leaf.get()), &until) != 1) {
    return std::nullopt;
  }
  const auto timeOf = [](std::tm& utc) {
    return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&utc)));
  };
  return CertificateLife{timeOf(from), timeOf(until)};
}

}  // namespace kube::detail
