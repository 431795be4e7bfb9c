// The error of all patch formats, for creating and applying patches.
//
// Text that is not a patch at all is a DecodeError instead. A call that throws has changed nothing.
//
// Thread safety: exceptions are immutable; copying one never throws.
#pragma once

#include <string>

#include "kube/base/error.h"

namespace kube {

class PatchError : public Error {
 public:
  enum class Reason : unsigned char {
    Malformed,       ///< The patch contradicts itself or the type of its target.
    SchemaMismatch,  ///< Server-side apply: the configuration or the object does not fit the
                     ///< schema.
    Missing,         ///< The patch names a part that does not exist.
    TestFailed,      ///< A `test` of a JSON patch failed.
    TooLarge,        ///< The patch has too many operations, or would make the object too large.
    Conflict,        ///< The same part was changed differently since the original.
    Precondition,    ///< The patch changes a part that the caller has protected.
  };

  PatchError(Reason reason, const std::string& message) : Error(message), reason_(reason) {}
  ~PatchError() override;

  Reason reason() const noexcept { return reason_; }

 private:
  Reason reason_;
};

}  // namespace kube
