// Middleware sees and may change each request to the API server, and its answer.
//
//   config.middleware.push_back([](kube::HttpAttempt& attempt, kube::NextMiddleware next) ->
//   kube::Task<> {
//     attempt.request.headers.set("X-Tenant", "blue");
//     co_await next();                                      // sends it
//     if (attempt.answer.status == 403) ...
//   });
//
// It is called for every attempt of every request: calls, lists, watches, logs and upgrades (exec,
// port-forwards), of clients and of informers, after the credentials were added, so it sees and may
// replace them. The first in the list is the outermost: it sees the request first and the answer
// last. The credentials make headers that programs must not show.
//
// A middleware is a coroutine, or a function that returns a task. It runs where the request runs,
// which for informers and awaitable clients may be the I/O thread of the library: it must not
// block, and co_awaits what takes time. (What takes a blocking call goes into a TokenSource or to
// TaskThreads.) It awaits next() once. An exception that it throws fails the request, which is not
// sent again; CanceledError and TimeoutError stay what they are, others become an Error that names
// the request. Exceptions of next() have to be passed on.
//
// Thread safety: a middleware is called by several threads at a time.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/base/task.h"
#include "kube/http/http.h"

namespace kube {

/// One attempt of a request.
struct HttpAttempt {
  /// With path and query as url, which begins with '/'. Requests to other servers cannot be made.
  HttpRequest request = {};
  /// The address in front of it, for messages: "https://10.0.0.1:6443".
  std::string server = {};
  /// The number of attempts before this one.
  int retries = 0;
  /// A description for messages: `get pods "web"`.
  std::string doing = {};

  // --- After next().
  /// The body is empty if it is read as it arrives: of lists, watches, logs and upgrades. Changes
  /// of status, headers and a body that is there are seen by the caller.
  HttpResponse answer = {};
  /// Add a function to be called with each piece of a body that is read as it arrives, by its
  /// reader. It must not block. It is destroyed with the answer.
  std::vector<std::function<void(std::string_view piece)>> onBody = {};
};

class NextMiddleware;
using Middleware = std::function<Task<>(HttpAttempt& attempt, NextMiddleware next)>;

namespace detail {
struct MiddlewareChain;
}

/// The rest of the chain, which sends the attempt in the end.
class NextMiddleware {
 public:
  Task<> operator()() const;

 private:
  friend struct detail::MiddlewareChain;
  NextMiddleware(detail::MiddlewareChain& chain, std::size_t index)
      : chain_(&chain), index_(index) {}

  detail::MiddlewareChain* chain_;
  std::size_t index_;
};

namespace detail {

/// An attempt on its way through the chain. Outlives the tasks.
struct MiddlewareChain {
  const std::vector<Middleware>& all;
  HttpAttempt& attempt;
  std::function<Task<>()> send;
  bool sent = false;
  std::exception_ptr failure = {};  // of send

  Task<> run() { return NextMiddleware(*this, 0)(); }
  Task<> sendOnce();
};

}  // namespace detail
}  // namespace kube
