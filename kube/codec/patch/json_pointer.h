// A place in a JSON document, written as in RFC 6901: /metadata/labels/app.kubernetes.io~1name
//
//   const auto pointer = JsonPointer::parse("/spec/containers/0/image");
//   if (const Value* image = pointer.find(pod)) ...
//   JsonPointer() / "metadata" / "annotations" / key     // escapes by itself
//
// The empty pointer is the whole document. In a token, ~0 stands for ~ and ~1 for /.
//
// Thread safety: as any C++ value.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/string.h"
#include "kube/meta/value.h"

namespace kube {

class JsonPointer {
 public:
  JsonPointer() = default;
  explicit JsonPointer(std::vector<String> tokens) noexcept : tokens_(std::move(tokens)) {}

  /// Throws DecodeError for text that does not start with a slash, and for a ~ that is not an
  /// escape.
  static JsonPointer parse(std::string_view text);

  /// Unescaped.
  std::span<const String> tokens() const noexcept { return tokens_; }
  bool empty() const noexcept { return tokens_.empty(); }
  std::size_t size() const noexcept { return tokens_.size(); }

  /// Returns the target, or null. An array is entered by an index without sign or leading zeros.
  const Value* find(const Value& document) const noexcept;

  /// One level deeper.
  JsonPointer operator/(std::string_view token) const;
  JsonPointer operator/(std::size_t index) const { return *this / std::to_string(index); }
  /// One level up; the empty pointer stays.
  JsonPointer parent() const;

  std::string toString() const;
  bool operator==(const JsonPointer&) const = default;

 private:
  std::vector<String> tokens_;
};

}  // namespace kube
