// error: KUBE_DESCRIBE: a field with values by key is a kube::Map
// lines: 50
#include <map>
#include <string>

#include "kube/meta/describe.h"

struct Spec {
  std::map<std::string, std::string> labels;
};
KUBE_DESCRIBE(Spec, labels);
