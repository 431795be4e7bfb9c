// error: cidrr
// lines: 90
#include "kube/meta/describe.h"

struct Spec {
  kube::String cidr;
  kube::List<kube::String> peers;
  kube::String gateway, domain, region, zone, owner, note;
};
KUBE_DESCRIBE(Spec, peers, gateway, domain, region, zone, owner, note, cidrr);
