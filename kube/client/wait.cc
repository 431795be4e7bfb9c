#include "kube/client/wait.h"

#include "kube/meta/api_error.h"

namespace kube::detail {

bool mayPass(const std::exception& error) noexcept {
  if (const auto* transport = dynamic_cast<const TransportError*>(&error)) {
    return !transport->permanent();
  }
  if (const auto* api = dynamic_cast<const ApiError*>(&error)) {
    return api->code() >= 500 || api->code() == 429 || isResourceExpired(*api) || isGone(*api);
  }
  return dynamic_cast<const TimeoutError*>(&error) != nullptr;
}

BackoffOptions relistBackoff() {
  return {.initial = std::chrono::milliseconds{100},
          .cap = std::chrono::seconds{10},
          .jitter = 0.2,
          .resetAfter = std::chrono::seconds{30}};
}

}  // namespace kube::detail
