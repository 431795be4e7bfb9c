// A request with its target, user and reply: the argument of all verbs.
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
