#include "codegen/names.h"

#include <algorithm>
#include <cctype>

namespace kube::codegen {

namespace {

std::string upperFirst(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::string lowerFirst(std::string text) {
  const auto upper = [&](std::size_t i) {
    return i < text.size() && std::isupper(static_cast<unsigned char>(text[i])) != 0;
  };
  for (std::size_t i = 0; upper(i) && (i == 0 || upper(i + 1) || i + 1 == text.size()); ++i) {
    text[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  return text;
}

std::string groupVersionName(const Package& package) {
  const std::string group =
      package.group.empty() ? "core" : package.group.substr(0, package.group.find('.'));
  return upperFirst(group) + upperFirst(package.version);
}

std::string accessorName(const Kind& kind) {
  const auto [end, rest] = std::ranges::mismatch(
      kind.kind, kind.resource, {},
      [](char c) { return std::tolower(static_cast<unsigned char>(c)); },
      [](char c) { return std::tolower(static_cast<unsigned char>(c)); });
  return lowerFirst(std::string(kind.kind.begin(), end) + std::string(rest, kind.resource.end()));
}

}  // namespace kube::codegen
