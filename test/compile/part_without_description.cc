// error: KUBE_DESCRIBE: a field's struct has no description; it stands before this one
// lines: 40
#include "kube/meta/describe.h"

struct Part {
  kube::String name;
};
struct Spec {
  kube::List<Part> parts;
};
KUBE_DESCRIBE(Spec, parts);
