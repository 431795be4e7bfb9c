// Retries after a conflict, or after other errors that are expected to pass.
//
//   kube::retryOnConflict([&] {
//     auto deployment = deployments.get("web");        // read it again each time
//     deployment.spec->replicas = 5;
//     return deployments.update(deployment);
//   });
//
// Thread safety: that of the called functions.
#pragma once

#include <chrono>
#include <exception>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "kube/base/backoff.h"
#include "kube/meta/api_error.h"

namespace kube {

/// For changes that other clients make as well, but rarely: five tries, ten milliseconds apart.
inline constexpr BackoffOptions kDefaultRetry{
    .initial = std::chrono::milliseconds{10}, .factor = 1, .jitter = 0.1, .steps = 4};
/// For objects that several clients change all the time.
inline constexpr BackoffOptions kDefaultRetryBackoff{
    .initial = std::chrono::milliseconds{10}, .factor = 5, .jitter = 0.1, .steps = 3};

/// Calls `act` until it returns, throws an error for which `again` is false, or has been called
/// once more than there are steps; then throws the last error. Also throws it when a stop is
/// requested.
template <class Act, class Again>
std::invoke_result_t<Act&> retryOnError(Again again, Act act, const BackoffOptions& options,
                                        const std::stop_token& stop = {},
                                        Clock& clock = realClock()) {
  for (Backoff backoff(options, clock);;) {
    try {
      return act();
    } catch (const std::exception& error) {
      if (!again(error) || !backoff.sleep(stop)) throw;
    }
  }
}

template <class Act>
std::invoke_result_t<Act&> retryOnConflict(Act act, const std::stop_token& stop = {},
                                           const BackoffOptions& options = kDefaultRetry,
                                           Clock& clock = realClock()) {
  return retryOnError([](const std::exception& error) { return isConflict(error); }, std::move(act),
                      options, stop, clock);
}

}  // namespace kube
