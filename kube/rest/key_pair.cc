#include "kube/rest/key_pair.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <climits>
#include <memory>

namespace kube::detail {
namespace {

template <auto Free>
struct Release {
  template <class T>
  void operator()(T* held) const {
    Free(held);
  }
};
using Bio = std::unique_ptr<BIO, Release<BIO_free>>;
using Certificate = std::unique_ptr<X509, Release<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;

// OpenSSL notes errors per thread; none of ours may be taken for another's.
struct ErrorsKept {
  ErrorsKept() { ERR_set_mark(); }
  ~ErrorsKept() { ERR_pop_to_mark(); }
};

Bio reader(std::string_view text) {
  if (text.size() > INT_MAX) return nullptr;
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Without it OpenSSL asks at the terminal.
int noPassPhrase(char*, int, int, void*) { return -1; }

Certificate firstCertificate(std::string_view text) {
  const Bio bio = reader(text);
  return Certificate(bio ? PEM_read_bio_X509(bio.get(), nullptr, noPassPhrase, nullptr) : nullptr);
}

}  // namespace

std::string_view keyPairProblem(std::string_view certificate, std::string_view key) {
  const ErrorsKept errors;
  const Certificate leaf = firstCertificate(certificate);
  if (!leaf) return "the certificate is not PEM text with a certificate";
  const Bio bio = reader(key);
  const Key own(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, noPassPhrase, nullptr) : nullptr);
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

}  // namespace kube::detail
