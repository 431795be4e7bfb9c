#include "kube/meta/validation/names.h"

#include <algorithm>
#include <utility>

namespace kube {
namespace {

constexpr std::string_view kCharacters = "bcdfghjklmnpqrstvwxz2456789";

}  // namespace

NameGenerator::~NameGenerator() = default;

SimpleNameGenerator::SimpleNameGenerator(RandomSource random) : random_(std::move(random)) {}

std::string SimpleNameGenerator::generateName(std::string_view base) {
  return std::string(base.substr(0, kMaxGeneratedNameBase)) +
         randomString(kRandomNameLength, random_);
}

std::string generateName(std::string_view base) { return SimpleNameGenerator().generateName(base); }

std::string randomString(std::size_t n, const RandomSource& random) {
  std::string text(n, '\0');
  for (char& c : text) {
    const auto i = static_cast<std::size_t>(random() * static_cast<double>(kCharacters.size()));
    c = kCharacters[std::min(i, kCharacters.size() - 1)];
  }
  return text;
}

std::string safeEncodeString(std::string_view text) {
  std::string encoded(text);
  for (char& c : encoded) c = kCharacters[static_cast<unsigned char>(c) % kCharacters.size()];
  return encoded;
}

}  // namespace kube
