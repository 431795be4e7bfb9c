// error: fromYaml: the type has no description; see KUBE_DESCRIBE
// lines: 40
#include "kube/codec/yaml.h"

struct Spec {
  kube::String name;
};
auto spec = kube::fromYaml<Spec>("name: a");
