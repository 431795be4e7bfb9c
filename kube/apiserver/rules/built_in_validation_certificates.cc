// Checks of trust bundles and of requests for certificates of pods.
#include <fmt/core.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

constexpr std::size_t kMaxTrustBundle = 1 << 20;
constexpr std::size_t kMaxRequest = 10 * 1024;
constexpr std::int64_t kMaxUid = 128;
constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::string_view kOmitted = "<value omitted>";

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_REQ* request) const { X509_REQ_free(request); }
};

/// A block of PEM.
struct Block {
  std::string type, headers, bytes;
};

std::vector<Block> pemBlocks(std::string_view text) {
  std::vector<Block> blocks;
  const std::unique_ptr<BIO, Free> bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  char* type = nullptr;
  char* headers = nullptr;
  unsigned char* bytes = nullptr;
  long size = 0;
  while (PEM_read_bio(bio.get(), &type, &headers, &bytes, &size) == 1) {
    blocks.push_back(
        {type, headers, {reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size)}});
    OPENSSL_free(type);
    OPENSSL_free(headers);
    OPENSSL_free(bytes);
  }
  return blocks;
}

/// Null for bytes that are no certificate.
std::unique_ptr<X509, Free> certificateOf(std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  return std::unique_ptr<X509, Free>(d2i_X509(nullptr, &data, static_cast<long>(bytes.size())));
}

/// Why a block is no certificate of an authority; empty if it is one.
std::string problemOf(const Block& block) {
  if (block.type != "CERTIFICATE") return "has bad block type: " + block.type;
  if (!block.headers.empty()) return "has PEM block headers";
  const auto certificate = certificateOf(block.bytes);
  if (certificate == nullptr) return "does not parse as X.509";
  const std::uint32_t flags = X509_get_extension_flags(certificate.get());
  if ((flags & EXFLAG_CA) == 0) return "does not have the CA bit set";
  if ((flags & EXFLAG_BCONS) == 0) return "has invalid basic constraints";
  return {};
}

void checkTrustBundle(std::string_view text, const Place& at) {
  if (text.size() > kMaxTrustBundle) return at.tooLong(kMaxTrustBundle);
  std::map<std::string, std::vector<std::size_t>> anchors;
  bool valid = true;
  std::size_t index = 0;
  for (const Block& block : pemBlocks(text)) {
    const std::string problem = problemOf(block);
    if (problem.empty()) {
      anchors[block.bytes].push_back(index);
    } else {
      valid = false;
      at.invalid(kOmitted, fmt::format("entry {} {}", index, problem));
    }
    ++index;
  }
  // After a bad block, other errors may only follow from it.
  if (!valid) return;
  if (anchors.empty()) at.invalid(kOmitted, "at least one trust anchor must be provided");
  for (const auto& [bytes, indices] : anchors) {
    if (indices.size() < 2) continue;
    at.invalid(kOmitted,
               fmt::format("duplicate trust anchor (indices [{}])", fmt::join(indices, " ")));
  }
}

/// The name of a bundle begins with its signer.
template <class Bundle>
void checkBundleName(const Bundle& bundle, const Place& root) {
  std::string_view name = bundle.metadata.name;
  const Place at = root("metadata.name");
  std::string prefix = bundle.spec->signerName.str();
  if (prefix.empty()) {
    if (name.find(':') != std::string_view::npos) {
      return at.invalid(name,
                        "ClusterTrustBundle without signer name must not have \":\" in its name");
    }
  } else {
    std::ranges::replace(prefix, '/', ':');
    prefix += ':';
    if (!name.starts_with(prefix)) {
      return at.invalid(name, fmt::format("ClusterTrustBundle for signerName {} must be named with "
                                          "prefix {}",
                                          bundle.spec->signerName, prefix));
    }
    name.remove_prefix(prefix.size());
  }
  at.reasons(bundle.metadata.name, validation::nameIsDNSSubdomain(name, false));
}

template <class Bundle>
void checkBundle(const Bundle& bundle, const Place& root) {
  checkBundleName(bundle, root);
  const Place at = root("spec");
  if (!bundle.spec->signerName.empty()) checkSigner(bundle.spec->signerName, at("signerName"));
}

template <class Bundle>
void checkBundleChange(const Bundle& next, const Bundle& old, const Place& root) {
  const Place at = root("spec");
  at("signerName").immutable(next.spec->signerName, old.spec->signerName);
  if (next.spec->trustBundle != old.spec->trustBundle) {
    checkTrustBundle(next.spec->trustBundle, at("trustBundle"));
  }
}

void checkUid(const String& uid, const Place& at) {
  if (uid.empty()) at.invalid(uid, "must not be empty");
  if (uid.size() > static_cast<std::size_t>(kMaxUid)) at.tooLong(kMaxUid);
}

/// A request for a certificate in DER, signed by a key of an accepted kind.
void checkCertificateRequest(std::string_view bytes, const Place& at) {
  if (bytes.size() > kMaxRequest) return at.tooLong(kMaxRequest);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::unique_ptr<X509_REQ, Free> request(
      d2i_X509_REQ(nullptr, &data, static_cast<long>(bytes.size())));
  if (request == nullptr) return at.invalid(kOmitted, "must be a valid PKCS#10 CSR");
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  const int kind = key != nullptr ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE;
  const int bits = key != nullptr ? EVP_PKEY_get_bits(key) : 0;
  if (kind == EVP_PKEY_RSA) {
    if (bits != 3072 && bits != 4096) {
      return at.invalid(fmt::format("{}-bit modulus", bits),
                        "RSA keys must have modulus size 3072 or 4096");
    }
  } else if (kind == EVP_PKEY_EC) {
    if (bits != 256 && bits != 384 && bits != 521) {
      return at.invalid(kOmitted, "elliptic public keys must use curve P256, P384, or P521");
    }
  } else if (kind != EVP_PKEY_ED25519) {
    return at.invalid(kOmitted,
                      "unknown public key type; supported types are Ed25519, ECDSA, and RSA");
  }
  if (X509_REQ_verify(request.get(), key) != 1) at.invalid(kOmitted, "invalid signature");
}

template <class Request>
void checkPodRequest(const Request& request, const Place& root) {
  const auto& spec = *request.spec;
  const Place at = root("spec");
  checkSigner(spec.signerName, at("signerName"));
  at("podName").reasons(spec.podName, validation::nameIsDNSSubdomain(spec.podName, false));
  checkUid(spec.podUID, at("podUID"));
  at("serviceAccountName")
      .reasons(spec.serviceAccountName,
               validation::nameIsDNSSubdomain(spec.serviceAccountName, false));
  checkUid(spec.serviceAccountUID, at("serviceAccountUID"));
  at("nodeName").reasons(spec.nodeName, validation::nameIsDNSSubdomain(spec.nodeName, false));
  checkUid(spec.nodeUID, at("nodeUID"));
  const Place expiry = at("maxExpirationSeconds");
  if (!spec.maxExpirationSeconds) return expiry.required("must be set");
  const bool own = spec.signerName.view().starts_with("kubernetes.io/");
  const std::int64_t most = own ? kDay : 91 * kDay;
  if (*spec.maxExpirationSeconds < kHour || *spec.maxExpirationSeconds > most) {
    expiry.invalid(*spec.maxExpirationSeconds,
                   fmt::format("must be in the range [{}, {}]", kHour, most));
  }
}

}  // namespace

void validate(const certificatesv1::ClusterTrustBundle& bundle, const Place& at) {
  checkBundle(bundle, at);
}
void validate(const certificatesv1beta1::ClusterTrustBundle& bundle, const Place& at) {
  checkBundle(bundle, at);
}
void validateCreate(const certificatesv1::ClusterTrustBundle& bundle, const Place& at) {
  const Place text = at("spec.trustBundle");
  checkTrustBundle(bundle.spec->trustBundle, text);
}
void validateCreate(const certificatesv1beta1::ClusterTrustBundle& bundle, const Place& at) {
  const Place text = at("spec.trustBundle");
  checkTrustBundle(bundle.spec->trustBundle, text);
}
void validateUpdate(const certificatesv1::ClusterTrustBundle& next,
                    const certificatesv1::ClusterTrustBundle& old, const Place& at) {
  checkBundleChange(next, old, at);
}
void validateUpdate(const certificatesv1beta1::ClusterTrustBundle& next,
                    const certificatesv1beta1::ClusterTrustBundle& old, const Place& at) {
  checkBundleChange(next, old, at);
}

void validateCreate(const certificatesv1::PodCertificateRequest& request, const Place& at) {
  checkPodRequest(request, at);
  const Place spec = at("spec");
  checkCertificateRequest(request.spec->stubPKCS10Request.view(), spec("stubPKCS10Request"));
}
void validateCreate(const certificatesv1beta1::PodCertificateRequest& request, const Place& at) {
  checkPodRequest(request, at);
  const Place spec = at("spec");
  const bool key = !request.spec->pkixPublicKey.empty();
  if (key != !request.spec->proofOfPossession.empty() ||
      key == !request.spec->stubPKCS10Request.empty()) {
    spec.invalid(Value(),
                 "exactly one of (stubPKCS10Request) or (pkixPublicKey, "
                 "proofOfPossession) must be set");
  } else if (!key) {
    checkCertificateRequest(request.spec->stubPKCS10Request.view(), spec("stubPKCS10Request"));
  }
}
void validateUpdate(const certificatesv1::PodCertificateRequest& next,
                    const certificatesv1::PodCertificateRequest& old, const Place& at) {
  at("spec").immutable(next.spec, old.spec);
}
void validateUpdate(const certificatesv1beta1::PodCertificateRequest& next,
                    const certificatesv1beta1::PodCertificateRequest& old, const Place& at) {
  at("spec").immutable(next.spec, old.spec);
}

}  // namespace kube::apiserver::rules
