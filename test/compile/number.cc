// error: KUBE_DESCRIBE: numbers are std::int32_t, std::int64_t or double
// lines: 40
#include "kube/meta/describe.h"

struct Spec {
  std::uint16_t port;
};
KUBE_DESCRIBE(Spec, port);
