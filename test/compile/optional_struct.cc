// error: KUBE_DESCRIBE: an optional struct is a kube::Shared
// lines: 40
#include "kube/meta/describe.h"

struct Part {
  kube::String name;
};
KUBE_DESCRIBE(Part, name);
struct Spec {
  std::optional<Part> part;
};
KUBE_DESCRIBE(Spec, part);
