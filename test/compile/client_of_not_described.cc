// error: ResourceClient
// lines: 45
// says: KUBE_DESCRIBE
#include "kube/client/resource_client.h"
#include "kube/meta/v1.h"

struct Site {
  kube::metav1::ObjectMeta metadata;
};
using Sites = kube::ResourceClient<Site>;
