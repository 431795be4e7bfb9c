// A list as a server sends it: metadata and items.
#pragma once

#include "kube/base/list.h"
#include "kube/meta/type_info.h"
#include "kube/meta/v1.h"

namespace kube {

/// Items of any described kind: a PodList without a name of its own.
template <Described T>
struct ObjectList {
  metav1::ListMeta metadata = {};
  List<T> items = {};
};

}  // namespace kube
