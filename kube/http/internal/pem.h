// Parses certificates and private keys in PEM text.
//
// OpenSSL 3 takes up to a millisecond for each, because it tries all of its decoders; and a
// kubeconfig is checked when it is loaded and used right after. Therefore the objects parsed by a
// check are kept for the next connection, which takes them instead of parsing the same text again.
// A few later checks replace them; of keys, one is kept.
//
// Thread safety: every function may be called from any thread. OpenSSL's errors are left for the
// caller to read or to drop.
#pragma once

#include <memory>
#include <string_view>

// OpenSSL's BIO, X509 and EVP_PKEY.
struct bio_st;
struct evp_pkey_st;
struct x509_st;

namespace kube::detail {

struct PemFree {
  void operator()(bio_st* text) const noexcept;
  void operator()(x509_st* certificate) const noexcept;
  void operator()(evp_pkey_st* key) const noexcept;
};
using Bio = std::unique_ptr<bio_st, PemFree>;
using Certificate = std::unique_ptr<x509_st, PemFree>;
using PrivateKey = std::unique_ptr<evp_pkey_st, PemFree>;

enum class PemUse {
  Check,    // keeps the parsed object for the next connection
  Connect,  // takes a kept object
};

/// Returns a reader of the text, which has to outlive it. Null if the text is too long for OpenSSL.
Bio pemReader(std::string_view text);

/// Returns the next certificate, with its trust settings if it has any. Null at the end of the text
/// (the error is PEM_R_NO_START_LINE) and for an unreadable certificate.
Certificate nextCertificate(bio_st* text, PemUse use);

/// Returns the first private key. Null if there is none, or if it needs a pass phrase.
PrivateKey privateKey(std::string_view text, PemUse use);

}  // namespace kube::detail
