// One request under way, as the verbs see it.
#pragma once

#include "kube/testing/access.h"
#include "kube/testing/api_request.h"
#include "kube/testing/object_store.h"
#include "kube/testing/reply.h"

namespace kube::testing {

struct VerbCall {
  const ApiRequest& request;
  const User& user;
  Target target;
  Reply& reply;
};

}  // namespace kube::testing
