// Names that the server generates: metadata.generateName followed by five random characters.
//
//   generateName("web-")                                   // web-x7q2d
//   SimpleNameGenerator names([] { return 0.0; });         // in a test: always web-bbbbb
//
// The characters are those of apimachinery: without vowels, so that no words appear, and without
// characters that are easily confused.
//
// Thread safety: the functions may be called from any thread; a generator if its source allows it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kube/base/backoff.h"

namespace kube {

/// The greatest length of a name that is also a DNS label, and the part of it for the base.
inline constexpr std::size_t kMaxNameLength = 63;
inline constexpr std::size_t kRandomNameLength = 5;
inline constexpr std::size_t kMaxGeneratedNameBase = kMaxNameLength - kRandomNameLength;

/// Generates names from a generateName.
class NameGenerator {
 public:
  virtual ~NameGenerator();
  virtual std::string generateName(std::string_view base) = 0;
};

/// Returns the base, cut to 58 bytes, and five random characters.
class SimpleNameGenerator final : public NameGenerator {
 public:
  explicit SimpleNameGenerator(RandomSource random = randomUnit);
  std::string generateName(std::string_view base) override;

 private:
  RandomSource random_;
};

std::string generateName(std::string_view base);

/// Returns n characters of the set for names.
std::string randomString(std::size_t n, const RandomSource& random = randomUnit);

/// Maps a text, such as a hash in decimal, to the characters of random names. The result depends on
/// the text only.
std::string safeEncodeString(std::string_view text);

}  // namespace kube
