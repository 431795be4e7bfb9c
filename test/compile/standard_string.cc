// error: KUBE_DESCRIBE: a field of text is a kube::String
// lines: 40
#include <string>

#include "kube/meta/describe.h"

struct Spec {
  kube::List<std::string> names;
};
KUBE_DESCRIBE(Spec, names);
