// Regular expressions in Go's syntax, which is also RE2's. Matching takes time linear in the text
// and a bounded amount of memory, whatever the pattern is.
//
// Thread safety: a Pattern is immutable; any thread may match.
//
// For source files of this folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace kube::apiserver {

class Pattern {
 public:
  /// Compiles a pattern. If that fails, `error` says so.
  explicit Pattern(std::string_view text);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  /// Empty for a valid pattern; otherwise the error, in the words of Go's parser.
  std::string error() const;

  /// True if the pattern matches somewhere in the text.
  bool matches(std::string_view text) const;

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace kube::apiserver
