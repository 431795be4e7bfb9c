#include "kube/base/error.h"

#include <fmt/core.h>

#include <iterator>
#include <utility>

namespace kube {
namespace {

std::string compose(const DecodeError::Where& where, const std::string& reason) {
  std::string position;
  auto out = std::back_inserter(position);
  if (where.line != 0) {
    fmt::format_to(out, "line {}", where.line);
    if (where.column != 0) fmt::format_to(out, ", column {}", where.column);
    if (where.offset) fmt::format_to(out, " (offset {})", *where.offset);
  } else if (where.offset) {
    fmt::format_to(out, "offset {}", *where.offset);
  }

  std::string message;
  for (const std::string* part : {&where.format, &std::as_const(position), &where.path}) {
    if (!part->empty()) message.append(*part).append(": ");
  }
  return message.append(reason);
}

}  // namespace

// Out of line, so that the type information of each class has one home. Exceptions can then be
// caught by type across shared library boundaries.
Error::~Error() = default;
DecodeError::~DecodeError() = default;

DecodeError::DecodeError(Where where, std::string reason)
    : Error(ErrorKind::Decode, compose(where, reason)),
      facts_(std::make_shared<const Facts>(Facts{std::move(where), std::move(reason)})) {}

}  // namespace kube
