// error: KUBE_DESCRIBE: a field's struct has no description; it stands before this one
// lines: 40
#include "kube/meta/describe.h"

struct Part {
  kube::String name;
};
struct Spec {
  kube::Shared<Part> part;
};
KUBE_DESCRIBE(Spec, part);
