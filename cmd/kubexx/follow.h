// Watches a kind's objects until the user stops it.
#pragma once

#include <string>
#include <string_view>

#include "cmd/kubexx/fetch.h"
#include "cmd/kubexx/invocation.h"
#include "kube/meta/api_error.h"

namespace kube::cmd {

/// Calls `changed` for each event after `version`. Starts a new watch when the server ends one,
/// which it does after some minutes. `changed` returns the version that it has seen. With a
/// --request-timeout, follow() ends with the first watch. Throws ApiError for an error event, and
/// the errors of Request.
template <Described T, class Changed>
void follow(Invocation& invocation, const Fetch& fetch, const std::string& name, String version,
            std::string_view accept, Changed changed) {
  const std::stop_token& stop = invocation.stop();
  do {
    Request request = fetch.watch(name, version);
    if (!accept.empty()) request.accept(std::string(accept));
    for (const WatchEvent<T>& event : request.watch<T>(stop)) {
      if (event.type == EventType::Error) throw ApiError(event.status, "watch");
      if (const String seen = changed(event); !seen.empty()) version = seen;
    }
  } while (!stop.stop_requested() && invocation.config().timeout.count() == 0);
}

}  // namespace kube::cmd
