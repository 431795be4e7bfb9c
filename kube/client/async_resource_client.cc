#include "kube/client/async_resource_client.h"

namespace kube::detail {

Task<void> sendForNothing(Request request, metav1::DeleteOptions options) {
  request.body(options);
  co_await std::move(request).async().raw();
}

}  // namespace kube::detail
