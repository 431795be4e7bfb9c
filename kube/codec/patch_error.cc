#include "kube/codec/patch_error.h"

namespace kube {

PatchError::~PatchError() = default;

}  // namespace kube
