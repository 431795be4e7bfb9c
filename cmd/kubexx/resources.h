// Finds the resources of a cluster by the names that people use: "po", "deployments.apps", "Pod",
// "all".
//
// Built-in names are resolved without discovery, so that a command starts at once. Discovery would
// give the same answer, because every server lists the groups of Kubernetes before others. Other
// names are resolved by discovery, with kubectl's cache files. If a server lacks a built-in
// resource, it answers 404; after forget(), discovery resolves all names.
//
// Thread safety: one thread.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/mapping/rest_mapper.h"

namespace kube {
class CachedDiscoveryClient;
class DiscoveryRestMapper;
class RestClient;
}  // namespace kube

namespace kube::cmd {

class Resources {
 public:
  /// With an empty cacheDir, uses kubectl's cache folder. Warnings go to `notes`.
  Resources(const RestClient& rest, std::string cacheDir, std::ostream& notes);
  ~Resources();

  /// Finds a resource or kind. Throws NoResourceMatchError.
  RestMapping find(std::string_view name) const;
  /// Finds a resource or kind, or all members of a category.
  std::vector<RestMapping> expand(std::string_view name) const;
  /// Stops resolving built-in names without discovery.
  void forget() const { trustBuiltIn_ = false; }
  bool trustsBuiltIn() const noexcept { return trustBuiltIn_; }

  /// A mapper of all served resources.
  const RestMapper& mapper() const;
  const CachedDiscoveryClient& discovery() const;

 private:
  std::optional<RestMapping> builtIn(std::string_view name) const;
  const DiscoveryRestMapper& served() const;

  const RestClient& rest_;
  const std::string cacheDir_;
  std::ostream& notes_;
  mutable bool trustBuiltIn_ = true;
  mutable std::shared_ptr<const CachedDiscoveryClient> discovery_;
  mutable std::shared_ptr<const DiscoveryRestMapper> mapper_;
};

/// Objects of one kind that a command names.
struct Target {
  RestMapping mapping = {};
  std::vector<std::string> names = {};  // empty: all objects
  std::string namespace_ = {};          // empty: the invocation's namespace
};

/// Parses the words of a command: "pods", "pods,svc", "pod web-1 web-2", "pod/web-1 svc/web".
/// Throws UsageError, and the errors of Resources.
std::vector<Target> parseTargets(const Resources& resources, const std::vector<std::string>& words);

/// The namespace of a target's objects: the target's own, or else `usual`. Empty for kinds outside
/// of namespaces.
String namespaceOf(const Target& target, const String& usual);

/// kubectl's name of an object: "pod/web-1", "deployment.apps/web".
std::string objectName(const RestMapping& mapping, std::string_view name);

/// True if the server has no such resource, rather than no such object.
bool isNotServed(const std::exception& error);

}  // namespace kube::cmd
