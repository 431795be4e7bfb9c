// A SharedInformerFactory with accessors for groups that the program defines, as `kubexx gen` makes
// them.
//
//   kube::SharedInformerFactoryWith<samplecrdv1::WithInformers> factory(clients);
//   auto networks = factory.samplecrdV1().networks();
//   auto pods = factory.coreV1().pods();                    // it is a SharedInformerFactory
//
// Thread safety: see InformerFactory.
#pragma once

#include "kube/cache/shared_informer_factory.h"
#include "kube/client/clientset_with.h"

namespace kube {

template <template <class> class... Groups>
using SharedInformerFactoryWith = typename detail::Mixed<SharedInformerFactory, Groups...>::type;

}  // namespace kube
