// What goes wrong when a patch is made or applied: all patch formats throw this.
//
// A text that is no patch at all is a DecodeError instead. Whoever fails has changed nothing.
//
// Thread safety: exceptions are immutable; copying one never throws.
#pragma once

#include <string>

#include "kube/base/error.h"

namespace kube {

class PatchError : public Error {
 public:
  enum class Reason : unsigned char {
    Malformed,     // the patch contradicts itself or the type of what it is for
    Missing,       // it names something that is not there
    TestFailed,    // a `test` of a JSON patch did not hold
    TooLarge,      // it has too many operations, or would blow the object up
    Conflict,      // somebody else has changed the same thing differently
    Precondition,  // it changes what the caller has forbidden to change
  };

  PatchError(Reason reason, const std::string& message) : Error(message), reason_(reason) {}
  ~PatchError() override;

  Reason reason() const noexcept { return reason_; }

 private:
  Reason reason_;
};

}  // namespace kube
