// Bearer tokens from a function of the program, such as one that asks a cloud's metadata service.
//
//   config.tokenSource = [&]() -> kube::Task<kube::IssuedToken> {
//     const std::string token = co_await askVault();
//     co_return {.token = token, .expires = std::chrono::system_clock::now() + 10min};
//   };
//
// A token is used until shortly before it expires (never, if it does not say), and until a server
// refuses it with 401. Then the function is called again; requests of that time wait for its
// result, each until its own deadline. One call is under way at a time. The function runs on a
// thread where it may also block; taskStop() is the stop token of the request that began it. An
// exception fails the requests that wait.
//
// Thread safety: called by one thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kube/base/clock.h"
#include "kube/base/task.h"

namespace kube {

struct IssuedToken {
  std::string token = {};
  std::optional<Clock::WallTime> expires = {};
};

using TokenSource = std::function<Task<IssuedToken>()>;

}  // namespace kube
