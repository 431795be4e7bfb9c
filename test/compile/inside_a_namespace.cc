// error: KUBE_DESCRIBE stands at global scope
// lines: 75
#include "kube/meta/describe.h"

namespace shop {
struct Spec {
  kube::String name;
};
KUBE_DESCRIBE(Spec, name);
}  // namespace shop
