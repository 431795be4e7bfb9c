#include "kube/testing/test_ca.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <utility>

#include "kube/base/error.h"

namespace kube {
namespace {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* thing) const noexcept {
    Free(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;

constexpr long halfADay = 12 * 60 * 60;

template <class T>
T* checked(T* made) {
  if (made == nullptr) throw Error("test CA: OpenSSL failed");
  return made;
}

std::string textOf(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem(X509* certificate) {
  const Bio bio(checked(BIO_new(BIO_s_mem())));
  PEM_write_bio_X509(bio.get(), certificate);
  return textOf(bio);
}

std::string pem(EVP_PKEY* key) {
  const Bio bio(checked(BIO_new(BIO_s_mem())));
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return textOf(bio);
}

void extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = checked(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void addName(X509_NAME* name, const char* field, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

// Makes a certificate that still lacks issuer, extensions and signature.
Certificate unsignedCertificate(EVP_PKEY* key, const std::string& commonName,
                                const std::vector<std::string>& organizations) {
  Certificate made(checked(X509_new()));
  X509_set_version(made.get(), X509_VERSION_3);
  unsigned char serial[16];
  RAND_bytes(serial, sizeof serial);
  serial[0] &= 0x7f;
  const std::unique_ptr<BIGNUM, Freer<BN_free>> number(BN_bin2bn(serial, sizeof serial, nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(made.get()));
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -halfADay);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), halfADay);
  X509_set_pubkey(made.get(), key);
  X509_NAME* subject = X509_get_subject_name(made.get());
  for (const std::string& organization : organizations) addName(subject, "O", organization);
  addName(subject, "CN", commonName);
  return made;
}

}  // namespace

struct TestCa::Identity {
  Key key{checked(EVP_EC_gen("P-256"))};
  Certificate certificate;
  std::string certPem;

  KeyPair issue(const std::string& commonName, const std::vector<std::string>& organizations,
                const std::string& alternativeNames, const char* usage) const {
    const Key own(checked(EVP_EC_gen("P-256")));
    const Certificate made = unsignedCertificate(own.get(), commonName, organizations);
    X509_set_issuer_name(made.get(), X509_get_subject_name(certificate.get()));
    extend(made.get(), certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
    extend(made.get(), certificate.get(), NID_key_usage, "critical,digitalSignature");
    extend(made.get(), certificate.get(), NID_ext_key_usage, usage);
    if (!alternativeNames.empty()) {
      extend(made.get(), certificate.get(), NID_subject_alt_name, alternativeNames);
    }
    if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0) throw Error("test CA: cannot sign");
    return {pem(made.get()), pem(own.get())};
  }
};

TestCa::TestCa(const std::string& name) : identity_(std::make_unique<Identity>()) {
  identity_->certificate = unsignedCertificate(identity_->key.get(), name, {});
  X509* certificate = identity_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  extend(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  extend(certificate, certificate, NID_subject_key_identifier, "hash");
  if (X509_sign(certificate, identity_->key.get(), EVP_sha256()) == 0) {
    throw Error("test CA: cannot sign");
  }
  identity_->certPem = pem(certificate);
}

TestCa::~TestCa() = default;
TestCa::TestCa(TestCa&&) noexcept = default;
TestCa& TestCa::operator=(TestCa&&) noexcept = default;

const std::string& TestCa::certPem() const { return identity_->certPem; }

KeyPair TestCa::server(const std::vector<std::string>& names) const {
  std::string alternatives;
  for (const std::string& name : names) {
    unsigned char bytes[16];
    const bool address = inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
                         inet_pton(AF_INET6, name.c_str(), bytes) == 1;
    if (!alternatives.empty()) alternatives += ",";
    alternatives += (address ? "IP:" : "DNS:") + name;
  }
  return identity_->issue(names.empty() ? "server" : names.front(), {}, alternatives, "serverAuth");
}

KeyPair TestCa::client(const std::string& commonName,
                       const std::vector<std::string>& organizations) const {
  return identity_->issue(commonName, organizations, "", "clientAuth");
}

}  // namespace kube
