// Addresses and ports for the Services of an API server: those that no other Service has.
#pragma once

#include "kube/apiserver/storage/storage.h"
#include "kube/meta/any_object.h"

namespace kube::apiserver {

/// Gives a Service what its type needs and it has not got; other objects stay as they are.
void giveAddresses(AnyObject& object, const Storage& storage, const Collection& services);

}  // namespace kube::apiserver
