#include "kube/http/internal/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <array>
#include <climits>
#include <cstring>
#include <string>
#include <utility>

#include "kube/base/internal/mutex.h"

namespace kube::detail {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest digestOf(std::string_view bytes) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

// The objects that were parsed last, by a digest of their text, because the text may be secret.
template <class Thing, std::size_t most>
class Kept {
 public:
  void keep(std::string_view bytes, Thing thing) {
    const Digest digest = digestOf(bytes);
    const Lock lock(entriesMutex_);
    for (Entry& entry : entries_) {
      if (entry.digest == digest) {
        entry.thing = std::move(thing);
        return;
      }
    }
    entries_[next_++ % entries_.size()] = {digest, std::move(thing)};
  }

  Thing take(std::string_view bytes) {
    const Digest digest = digestOf(bytes);
    const Lock lock(entriesMutex_);
    for (Entry& entry : entries_) {
      if (entry.thing && entry.digest == digest) return std::exchange(entry, {}).thing;
    }
    return {};
  }

 private:
  struct Entry {
    Digest digest{};
    Thing thing;
  };

  Mutex entriesMutex_;
  std::array<Entry, most> entries_ KUBE_GUARDED_BY(entriesMutex_);
  std::size_t next_ KUBE_GUARDED_BY(entriesMutex_) = 0;
};

// Never destroyed: OpenSSL cleans up after itself before static objects are.
Kept<Certificate, 4>& keptCertificates() {
  static auto* kept = new Kept<Certificate, 4>;
  return *kept;
}
// One, for the connection right after the check, because no connection may ever take it.
Kept<PrivateKey, 1>& keptKeys() {
  static auto* kept = new Kept<PrivateKey, 1>;
  return *kept;
}

Certificate shared(const Certificate& certificate) {
  X509_up_ref(certificate.get());
  return Certificate(certificate.get());
}
PrivateKey shared(const PrivateKey& key) {
  EVP_PKEY_up_ref(key.get());
  return PrivateKey(key.get());
}

// Without this callback OpenSSL asks at the terminal.
int noPassPhrase(char*, int, int, void*) { return -1; }

// Tells OpenSSL the kind of the key, which the label or the PKCS #8 content names, so that it tries
// a few decoders instead of all. Null if the text is not understood.
PrivateKey keyOfKnownKind(std::string_view text) {
  const Bio bio = pemReader(text);
  unsigned char* bytes = nullptr;
  char* label = nullptr;
  long size = 0;
  if (!bio || PEM_bytes_read_bio(&bytes, &size, &label, PEM_STRING_EVP_PKEY, bio.get(),
                                 noPassPhrase, nullptr) != 1) {
    return nullptr;
  }
  int kind = NID_undef;
  const unsigned char* at = bytes;
  if (std::strcmp(label, PEM_STRING_RSA) == 0) {
    kind = EVP_PKEY_RSA;
  } else if (std::strcmp(label, PEM_STRING_ECPRIVATEKEY) == 0) {
    kind = EVP_PKEY_EC;
  } else if (std::strcmp(label, PEM_STRING_PKCS8INF) == 0) {
    if (PKCS8_PRIV_KEY_INFO* info = d2i_PKCS8_PRIV_KEY_INFO(nullptr, &at, size)) {
      const ASN1_OBJECT* algorithm = nullptr;
      PKCS8_pkey_get0(&algorithm, nullptr, nullptr, nullptr, info);
      kind = OBJ_obj2nid(algorithm);
      PKCS8_PRIV_KEY_INFO_free(info);
    }
  }
  at = bytes;
  PrivateKey key(kind != NID_undef ? d2i_PrivateKey(kind, nullptr, &at, size) : nullptr);
  OPENSSL_clear_free(bytes, static_cast<std::size_t>(size));
  OPENSSL_free(label);
  return key;
}

}  // namespace

void PemFree::operator()(bio_st* text) const noexcept { BIO_free_all(text); }
void PemFree::operator()(x509_st* certificate) const noexcept { X509_free(certificate); }
void PemFree::operator()(evp_pkey_st* key) const noexcept { EVP_PKEY_free(key); }

Bio pemReader(std::string_view text) {
  if (text.size() > INT_MAX) return nullptr;
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Certificate nextCertificate(BIO* text, PemUse use) {
  unsigned char* found = nullptr;
  long size = 0;
  if (PEM_bytes_read_bio(&found, &size, nullptr, PEM_STRING_X509_TRUSTED, text, noPassPhrase,
                         nullptr) != 1) {
    return nullptr;
  }
  const auto freeBytes = [](unsigned char* bytes) { OPENSSL_free(bytes); };
  const std::unique_ptr<unsigned char, decltype(freeBytes)> owner(found, freeBytes);
  const std::string_view bytes(reinterpret_cast<const char*>(found),
                               static_cast<std::size_t>(size));
  if (use == PemUse::Connect) {
    if (Certificate certificate = keptCertificates().take(bytes)) return certificate;
  }
  const unsigned char* at = found;
  Certificate certificate(d2i_X509_AUX(nullptr, &at, size));
  if (!certificate) ERR_raise(ERR_LIB_PEM, ERR_R_ASN1_LIB);
  if (certificate && use == PemUse::Check) keptCertificates().keep(bytes, shared(certificate));
  return certificate;
}

PrivateKey privateKey(std::string_view text, PemUse use) {
  if (use == PemUse::Connect) {
    if (PrivateKey key = keptKeys().take(text)) return key;
  }
  ERR_set_mark();
  PrivateKey key = keyOfKnownKind(text);
  ERR_pop_to_mark();
  if (!key) {
    const Bio bio = pemReader(text);
    if (bio) key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, noPassPhrase, nullptr));
  }
  if (key && use == PemUse::Check) keptKeys().keep(text, shared(key));
  return key;
}

}  // namespace kube::detail
