// Regular expressions as Kubernetes has them: Go's syntax, which is RE2's. Matching takes time
// linear in the text and memory that does not depend on it, whatever the pattern is.
//
// A Pattern is immutable: any thread may match.
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
  /// See `error` for whether the text was one.
  explicit Pattern(std::string_view text);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  /// Empty if this is a regular expression; else why not, in the words of Go's parser.
  std::string error() const;

  /// Whether it matches somewhere in the text.
  bool matches(std::string_view text) const;

 private:
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace kube::apiserver
