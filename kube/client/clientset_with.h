// A Clientset with additional groups, such as those that `kubexx gen` makes.
//
//   kube::ClientsetWith<samplecrdv1::WithClient, othersv1::WithClient> clients(config);
//   clients.samplecrdV1().networks("book").get("example");
//   clients.coreV1().pods("book");                          // it is a Clientset
//
// A group is a class template WithClient<Base> that derives from Base, has its constructors and
// adds an accessor. Thread safety and performance are those of Clientset.
#pragma once

#include "kube/client/clientset.h"

namespace kube {

namespace detail {

/// Wraps Base in each of the mix-ins.
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
