// Allocates unused addresses and ports for the Services of an API server.
#pragma once

#include "kube/apiserver/storage/storage.h"
#include "kube/meta/any_object.h"

namespace kube::apiserver {

/// Gives a Service the addresses and ports that its type needs; other objects stay as they are.
void giveAddresses(AnyObject& object, const Storage& storage, const Collection& services);

}  // namespace kube::apiserver
