#include "kube/codec/patch/patch_error.h"

namespace kube {

PatchError::~PatchError() = default;

}  // namespace kube
