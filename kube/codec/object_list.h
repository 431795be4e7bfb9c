// A list as a server answers it: its metadata, and the items.
#pragma once

#include "kube/base/list.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube {

/// Of items of any described kind; a PodList without its name.
template <Described T>
struct ObjectList {
  metav1::ListMeta metadata = {};
  List<T> items = {};
};

}  // namespace kube
