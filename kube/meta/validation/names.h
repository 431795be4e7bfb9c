// Names made up by the server: metadata.generateName with five random characters behind it.
//
//   generateName("web-")                                   // web-x7q2d
//   SimpleNameGenerator names([] { return 0.0; });         // in a test: always web-bbbbb
//
// The characters are those of apimachinery: no vowels, so that no words come out, and nothing that
// is taken for something else.
//
// Thread safety: the functions may be called from any thread; a generator as its source allows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kube/base/backoff.h"

namespace kube {

/// As long as a name may be where it is a DNS label too, and how much of it a base may take.
inline constexpr std::size_t kMaxNameLength = 63;
inline constexpr std::size_t kRandomNameLength = 5;
inline constexpr std::size_t kMaxGeneratedNameBase = kMaxNameLength - kRandomNameLength;

/// Makes names for what asks for it by generateName.
class NameGenerator {
 public:
  virtual ~NameGenerator();
  virtual std::string generateName(std::string_view base) = 0;
};

/// The base, cut to 58 bytes, and five random characters.
class SimpleNameGenerator final : public NameGenerator {
 public:
  explicit SimpleNameGenerator(RandomSource random = randomUnit);
  std::string generateName(std::string_view base) override;

 private:
  RandomSource random_;
};

std::string generateName(std::string_view base);

/// n characters as names have them.
std::string randomString(std::size_t n, const RandomSource& random = randomUnit);

/// A text, such as a hash in decimal, in the characters of random names: the same for the same.
std::string safeEncodeString(std::string_view text);

}  // namespace kube
