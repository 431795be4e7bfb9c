#include "kube/testing/request_log.h"

#include "kube/meta/api_error.h"

namespace kube::testing {

namespace {

constexpr std::size_t kMostBytes = 16 << 20;

}  // namespace

void RequestLog::add(const std::shared_ptr<const ApiRequest>& request) {
  if (most_ == 0) return;
  const detail::Lock lock(requestsMutex_);
  requests_.push_back(request);
  bytes_ += request->http.body.size();
  while (requests_.size() > most_ || (bytes_ > kMostBytes && requests_.size() > 1)) {
    bytes_ -= requests_.front()->http.body.size();
    requests_.pop_front();
  }
}

void RequestLog::clear() {
  const detail::Lock lock(requestsMutex_);
  requests_.clear();
  bytes_ = 0;
}

std::vector<ReceivedRequest> RequestLog::list(const RequestFilter& filter) const {
  std::vector<std::shared_ptr<const ApiRequest>> matching;
  {
    const detail::Lock lock(requestsMutex_);
    for (const auto& request : requests_) {
      if (filter.matches(*request)) matching.push_back(request);
    }
  }
  std::vector<ReceivedRequest> result;
  for (const auto& request : matching) {
    ReceivedRequest& received = result.emplace_back(ReceivedRequest{*request});
    try {
      received.user = access_.authenticate(*request);
    } catch (const ApiError&) {
      received.user.groups.clear();
    }
  }
  return result;
}

}  // namespace kube::testing
