// One request under way, as the verbs see it.
#pragma once

#include "kube/apiserver/server/reply.h"
#include "kube/apiserver/storage/object_store.h"
#include "kube/testing/access.h"
#include "kube/testing/api_request.h"

namespace kube::apiserver {

struct VerbCall {
  const testing::ApiRequest& request;
  const testing::User& user;
  Target target;
  Reply& reply;
};

}  // namespace kube::apiserver
