#include "kube/codec/patch/json_pointer.h"

#include "kube/base/error.h"
#include "kube/base/internal/text.h"

namespace kube {

namespace {

std::string unescape(std::string_view token, std::size_t offset) {
  std::string plain;
  plain.reserve(token.size());
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      plain += token[i];
      continue;
    }
    const char next = i + 1 < token.size() ? token[i + 1] : '\0';
    if (next != '0' && next != '1') {
      throw DecodeError({.format = "json pointer", .offset = offset + i},
                        "expected 0 or 1 after ~; a ~ of its own is written ~0");
    }
    plain += next == '0' ? '~' : '/';
    ++i;
  }
  return plain;
}

}  // namespace

JsonPointer JsonPointer::parse(std::string_view text) {
  JsonPointer result;
  if (text.empty()) return result;
  if (text.front() != '/') {
    throw DecodeError({.format = "json pointer", .offset = 0},
                      "expected a slash at the start, as in /metadata/name");
  }
  std::size_t at = 1;
  while (true) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    result.tokens_.emplace_back(unescape(text.substr(at, end - at), at));
    if (end == text.size()) return result;
    at = end + 1;
  }
}

const Value* JsonPointer::find(const Value& document) const noexcept {
  const Value* at = &document;
  for (const String& token : tokens_) {
    if (at->isObject()) {
      const auto& object = at->asObject();
      const auto member = object.find(token);
      if (member == object.end()) return nullptr;
      at = &member->value;
      continue;
    }
    const auto index = detail::parseNumber<std::size_t>(token);
    if (!index || (token.size() > 1 && *token.begin() == '0')) return nullptr;
    if (*index >= at->asArray().size()) return nullptr;
    at = &at->asArray()[*index];
  }
  return at;
}

JsonPointer JsonPointer::operator/(std::string_view token) const {
  JsonPointer result = *this;
  result.tokens_.emplace_back(token);
  return result;
}

JsonPointer JsonPointer::parent() const {
  JsonPointer result = *this;
  if (!result.tokens_.empty()) result.tokens_.pop_back();
  return result;
}

std::string JsonPointer::toString() const {
  std::string text;
  for (const String& token : tokens_) {
    text += '/';
    for (const char c : token) {
      if (c == '~') {
        text += "~0";
      } else if (c == '/') {
        text += "~1";
      } else {
        text += c;
      }
    }
  }
  return text;
}

}  // namespace kube
