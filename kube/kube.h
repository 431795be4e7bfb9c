// All that most programs need, in one include.
//
//   #include <kube/kube.h>
//
//   kube::Clientset clients(kube::Config::load());
//   for (const auto& pod : clients.coreV1().pods("book").list().items)
//     std::cout << pod.metadata.name << '\n';
//
// Of the group-versions of Clientset and SharedInformerFactory, those that are stable are in it;
// alpha, beta and retired ones are included by themselves: <kube/client/apps/v1beta1.h>,
// <kube/cache/apps/v1beta1.h>. A source file that talks to one or two groups compiles somewhat
// faster with just these: <kube/client/core/v1.h>.
#pragma once

#include "kube/base/error.h"
#include "kube/cache/admissionregistration/v1.h"
#include "kube/cache/apiextensions/v1.h"
#include "kube/cache/apiregistration/v1.h"
#include "kube/cache/apps/v1.h"
#include "kube/cache/autoscaling/v1.h"
#include "kube/cache/autoscaling/v2.h"
#include "kube/cache/batch/v1.h"
#include "kube/cache/certificates/v1.h"
#include "kube/cache/coordination/v1.h"
#include "kube/cache/core/v1.h"
#include "kube/cache/discovery/v1.h"
#include "kube/cache/events/v1.h"
#include "kube/cache/flowcontrol/v1.h"
#include "kube/cache/networking/v1.h"
#include "kube/cache/node/v1.h"
#include "kube/cache/policy/v1.h"
#include "kube/cache/rbac/v1.h"
#include "kube/cache/resource/v1.h"
#include "kube/cache/resource_informer_factory.h"
#include "kube/cache/scheduling/v1.h"
#include "kube/cache/shared_informer.h"
#include "kube/cache/shared_informer_factory_with.h"
#include "kube/cache/storage/v1.h"
#include "kube/client/admissionregistration/v1.h"
#include "kube/client/apiextensions/v1.h"
#include "kube/client/apiregistration/v1.h"
#include "kube/client/apps/v1.h"
#include "kube/client/authentication/v1.h"
#include "kube/client/authorization/v1.h"
#include "kube/client/autoscaling/v1.h"
#include "kube/client/autoscaling/v2.h"
#include "kube/client/batch/v1.h"
#include "kube/client/certificates/v1.h"
#include "kube/client/clientset.h"
#include "kube/client/clientset_with.h"
#include "kube/client/coordination/v1.h"
#include "kube/client/core/v1.h"
#include "kube/client/crd.h"
#include "kube/client/discovery/v1.h"
#include "kube/client/dynamic_client.h"
#include "kube/client/events/v1.h"
#include "kube/client/flowcontrol/v1.h"
#include "kube/client/networking/v1.h"
#include "kube/client/node/v1.h"
#include "kube/client/policy/v1.h"
#include "kube/client/rbac/v1.h"
#include "kube/client/resource/v1.h"
#include "kube/client/retry.h"
#include "kube/client/scheduling/v1.h"
#include "kube/client/storage/v1.h"
#include "kube/client/wait.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"
#include "kube/rest/config.h"
