#include "kube/cache/list_watch.h"

#include <charconv>

#include "kube/cache/reflector_loop.h"

namespace kube::detail {

namespace {

// 0 for what is no number, and compares with nothing.
std::uint64_t number(std::string_view version) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), value);
  return error == std::errc() && end == version.data() + version.size() ? value : 0;
}

}  // namespace

bool hasReached(const RestClient& rest, const ResourceName& resource, const String& namespaceName,
                const String& version, const std::stop_token& stop) {
  const auto ask = [&](metav1::ListOptions options) {
    // Servers find one object of one namespace by its key; "-" is no name that an object can have.
    const bool anywhere = namespaceName.empty() && resource.scope == RestScope::Namespace;
    options.fieldSelector = "metadata.name=-";
    Request request = rest.get();
    request.namespace_(anywhere ? "default" : namespaceName.view()).resource(resource.plural);
    return request.options(options).intoList<Unstructured>(stop).metadata.resourceVersion;
  };
  try {
    try {
      // What the server has in memory is mostly new enough, and costs it nothing.
      ask({.resourceVersion = version, .resourceVersionMatch = "NotOlderThan"});
      return true;
    } catch (const ApiError& error) {
      if (!isTooLargeVersion(error)) throw;
    }
    // Or that lags behind the storage.
    const std::uint64_t current = number(ask({}));
    return current == 0 || current >= number(version);
  } catch (const ApiError& error) {
    // What it does not let us ask, we cannot know; what fails otherwise may be asked again.
    if (isTooManyRequests(error) || error.code() >= 500) throw;
    return true;
  } catch (const DecodeError&) {
    return true;
  }
}

}  // namespace kube::detail
