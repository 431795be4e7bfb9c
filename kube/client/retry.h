// Retries after a conflict, or after other errors that are expected to pass.
//
//   kube::retryOnConflict([&] {
//     auto deployment = deployments.get("web");        // read it again each time
//     deployment.spec->replicas = 5;
//     return deployments.update(deployment);
//   });
//
// A function that returns a task makes the awaitable form:
//
//   const auto scale = [&]() -> kube::Task<appsv1::Deployment> {
//     auto deployment = co_await deployments.get("web");
//     deployment.spec->replicas = 5;
//     co_return co_await deployments.update(deployment);
//   };
//   co_await kube::retryOnConflict(scale);
//
// Thread safety: that of the called functions.
#pragma once

#include <chrono>
#include <exception>
#include <stop_token>
#include <utility>

#include "kube/base/backoff.h"
#include "kube/base/internal/task_call.h"
#include "kube/base/task.h"
#include "kube/meta/api_error.h"

namespace kube {

/// For changes that other clients make as well, but rarely: five tries, ten milliseconds apart.
inline constexpr BackoffOptions kDefaultRetry{
    .initial = std::chrono::milliseconds{10}, .factor = 1, .jitter = 0.1, .steps = 4};
/// For objects that several clients change all the time.
inline constexpr BackoffOptions kDefaultRetryBackoff{
    .initial = std::chrono::milliseconds{10}, .factor = 5, .jitter = 0.1, .steps = 3};

namespace detail {

template <class Again, class Act>
Task<AwaitedOf<Act>> retryTask(Again again, Act act, BackoffOptions options, Clock& clock) {
  for (Backoff backoff(options, clock);;) {
    std::exception_ptr error;
    try {
      co_return co_await callTask(act);
    } catch (const std::exception& thrown) {
      if (!again(thrown)) throw;
      error = std::current_exception();
    }
    const auto pause = backoff.next();
    bool more = pause.has_value();
    if (more) more = co_await sleepFor(*pause, clock);
    if (!more) std::rethrow_exception(error);
  }
}

template <class Act>
concept BlockingAct = !returnsTask<Act>;
template <class Act>
concept AwaitableAct = returnsTask<Act>;

}  // namespace detail

/// Calls `act` until it returns, throws an error for which `again` is false, or has been called
/// once more than there are steps; then throws the last error. Also throws it when a stop is
/// requested.
template <detail::BlockingAct Act, class Again>
detail::AwaitedOf<Act> retryOnError(Again again, Act act, const BackoffOptions& options,
                                    const std::stop_token& stop = {}, Clock& clock = realClock()) {
  return detail::runBlocking(detail::retryTask(std::move(again), std::move(act), options, clock),
                             stop);
}
/// The awaitable form: `act` returns a task.
template <detail::AwaitableAct Act, class Again>
Task<detail::AwaitedOf<Act>> retryOnError(Again again, Act act, const BackoffOptions& options,
                                          Clock& clock = realClock()) {
  return detail::retryTask(std::move(again), std::move(act), options, clock);
}

template <detail::BlockingAct Act>
detail::AwaitedOf<Act> retryOnConflict(Act act, const std::stop_token& stop = {},
                                       const BackoffOptions& options = kDefaultRetry,
                                       Clock& clock = realClock()) {
  return retryOnError([](const std::exception& error) { return isConflict(error); }, std::move(act),
                      options, stop, clock);
}
template <detail::AwaitableAct Act>
Task<detail::AwaitedOf<Act>> retryOnConflict(Act act, const BackoffOptions& options = kDefaultRetry,
                                             Clock& clock = realClock()) {
  return retryOnError([](const std::exception& error) { return isConflict(error); }, std::move(act),
                      options, clock);
}

}  // namespace kube
