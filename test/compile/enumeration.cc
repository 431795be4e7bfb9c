// error: KUBE_DESCRIBE: a field of an enumeration is a kube::String
// lines: 40
#include "kube/meta/describe.h"

enum class Mode { On, Off };
struct Spec {
  Mode mode;
};
KUBE_DESCRIBE(Spec, mode);
