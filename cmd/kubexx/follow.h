// Changes of a kind's objects, for as long as one wants to see them.
#pragma once

#include <string>
#include <string_view>

#include "cmd/kubexx/fetch.h"
#include "cmd/kubexx/invocation.h"
#include "kube/meta/api_error.h"

namespace kube::cmd {

/// Calls `changed` for each event from a version on, over as many watches as it takes: servers end
/// each after some minutes. It returns the version that it has seen. A --request-timeout is the
/// user's own wish to end. Throws ApiError for the server's error, and what Request throws.
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
