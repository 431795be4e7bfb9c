// error: KUBE_DESCRIBE: no List, Map, Shared or optional stands in another
// lines: 40
#include "kube/meta/describe.h"

struct Spec {
  kube::List<kube::List<kube::String>> rows;
};
KUBE_DESCRIBE(Spec, rows);
