// A Clientset with accessors for groups of one's own, as `kubexx gen` makes them.
//
//   kube::ClientsetWith<samplecrdv1::WithClient, othersv1::WithClient> clients(config);
//   clients.samplecrdV1().networks("book").get("example");
//   clients.coreV1().pods("book");                          // it is a Clientset
//
// A group is a class template WithClient<Base>, derived from its Base, with that one's constructors
// and an accessor. Thread safety and performance are Clientset's.
#pragma once

#include "kube/client/clientset.h"

namespace kube {

namespace detail {

/// Base, with each of the mix-ins around it.
template <class Base, template <class> class... Groups>
struct Mixed {
  using type = Base;
};
template <class Base, template <class> class First, template <class> class... Rest>
struct Mixed<Base, First, Rest...> {
  using type = First<typename Mixed<Base, Rest...>::type>;
};

}  // namespace detail

template <template <class> class... Groups>
using ClientsetWith = typename detail::Mixed<Clientset, Groups...>::type;

}  // namespace kube
