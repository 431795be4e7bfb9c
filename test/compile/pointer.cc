// error: KUBE_DESCRIBE: a field that points to a struct is a kube::Shared
// lines: 60
#include <memory>

#include "kube/meta/describe.h"

struct Part {
  kube::String name;
};
struct Spec {
  std::shared_ptr<Part> part;
};
KUBE_DESCRIBE(Spec, part);
