#include "kube/apiserver/schema/schema_pattern.h"

#include <fmt/core.h>
#include <re2/re2.h>

namespace kube::apiserver {

namespace {

constexpr std::int64_t kMaxMemory = 8 << 20;  // for one pattern and its automata

RE2::Options quietly() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxMemory);
  return options;
}

// Both parsers have the same author and fail for the same reasons, but their messages differ.
std::string_view goWords(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "internal error";
  }
}

}  // namespace

Pattern::Pattern(std::string_view text)
    : compiled_(std::make_unique<RE2>(re2::StringPiece(text.data(), text.size()), quietly())) {}
Pattern::~Pattern() = default;

std::string Pattern::error() const {
  if (compiled_->ok()) return {};
  return fmt::format("error parsing regexp: {}: `{}`", goWords(compiled_->error_code()),
                     compiled_->error_arg());
}

bool Pattern::matches(std::string_view text) const {
  return compiled_->ok() &&
         RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace kube::apiserver
