// error: KUBE_DESCRIBE: a field with several values is a kube::List
// lines: 40
#include <vector>

#include "kube/meta/describe.h"

struct Spec {
  std::vector<std::int32_t> ports;
};
KUBE_DESCRIBE(Spec, ports);
