#include "kube/base/internal/hash.h"

#include <random>

namespace kube::detail {

// Initialized before all other globals: their initializers may hash, and would do so with zeros. A
// check in every hash would cost time.
[[gnu::init_priority(101)]] const std::array<unsigned char, kSecretSize> kHashSecret = [] {
  std::array<unsigned char, kSecretSize> secret{};
  std::random_device random;
  for (std::size_t i = 0; i < secret.size(); i += 4) {
    const std::uint32_t bits = random();
    for (std::size_t k = 0; k < 4; ++k) secret[i + k] = static_cast<unsigned char>(bits >> (8 * k));
  }
  return secret;
}();

}  // namespace kube::detail
