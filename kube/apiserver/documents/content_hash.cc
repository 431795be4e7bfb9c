#include "kube/apiserver/documents/content_hash.h"

#include <openssl/sha.h>

#include <array>

namespace kube::apiserver {

std::string contentHash(std::string_view content) {
  std::array<unsigned char, SHA512_DIGEST_LENGTH> digest{};
  SHA512(reinterpret_cast<const unsigned char*>(content.data()), content.size(), digest.data());
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace kube::apiserver
