#include "kube/http/internal/text.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/base/error.h"

namespace kube::detail {
namespace {

bool isControl(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }

}  // namespace

void checkHeaderText(std::string_view text, std::string_view what) {
  if (std::none_of(text.begin(), text.end(), isControl)) return;
  throw ConfigError(fmt::format("{}: line breaks and control characters are not allowed", what));
}

std::string bearer(std::string_view token, std::string_view what) {
  checkHeaderText(token, what);
  return std::string("Bearer ").append(token);
}

}  // namespace kube::detail
