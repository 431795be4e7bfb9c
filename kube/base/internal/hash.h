// The keyed hash of pools. For source files only, because it includes all of xxHash.
//
// XXH3 with a secret of random bytes, drawn once per process, so that attackers cannot prepare
// inputs that collide.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace kube::detail {

inline constexpr std::size_t kSecretSize = 192;
extern const std::array<unsigned char, kSecretSize> kHashSecret;

inline std::uint64_t hash64(std::string_view bytes) noexcept {
  return XXH3_64bits_withSecret(bytes.data(), bytes.size(), kHashSecret.data(), kSecretSize);
}

/// `salt` distinguishes equal bytes of different meaning.
inline std::array<std::uint64_t, 2> hash128(std::string_view bytes, const void* salt) noexcept {
  XXH128_hash_t hash{};  // empty messages are common; the salt alone distinguishes them
  if (!bytes.empty()) {
    hash = XXH3_128bits_withSecret(bytes.data(), bytes.size(), kHashSecret.data(), kSecretSize);
  }
  const std::uint64_t spread = reinterpret_cast<std::uintptr_t>(salt) * 0x9e3779b97f4a7c15ULL;
  return {hash.low64 ^ spread, hash.high64 + spread};
}

}  // namespace kube::detail
