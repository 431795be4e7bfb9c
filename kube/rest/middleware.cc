#include "kube/rest/middleware.h"

#include "kube/base/error.h"

namespace kube {

Task<> NextMiddleware::operator()() const {
  detail::MiddlewareChain& chain = *chain_;
  if (index_ >= chain.all.size()) return chain.sendOnce();
  return chain.all[index_](chain.attempt, NextMiddleware(chain, index_ + 1));
}

Task<> detail::MiddlewareChain::sendOnce() {
  if (std::exchange(sent, true)) throw Error("next() was called twice");
  try {
    co_await send();
  } catch (...) {
    failure = std::current_exception();
    throw;
  }
}

}  // namespace kube
