// The resources of a cluster by the names people use: "po", "deployments.apps", "Pod", "all".
//
// Built-in names are known without asking anybody, which is what makes a command start at once: the
// groups of Kubernetes come before others in every server's discovery, so it would give the same
// answer. For other names, discovery is asked, through kubectl's files. A server that does not have
// a built-in resource is found out when it answers 404: forget() then has discovery asked.
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
  /// With an empty cacheDir, the files are where kubectl has them. Warnings go to `notes`.
  Resources(const RestClient& rest, std::string cacheDir, std::ostream& notes);
  ~Resources();

  /// Of a resource or kind. Throws NoResourceMatchError.
  RestMapping find(std::string_view name) const;
  /// The same, or several for a category.
  std::vector<RestMapping> expand(std::string_view name) const;
  /// From now on nothing is taken for known.
  void forget() const { trustBuiltIn_ = false; }
  bool trustsBuiltIn() const noexcept { return trustBuiltIn_; }

  /// Of everything that is served.
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

/// Some objects of one kind that a command is about.
struct Target {
  RestMapping mapping = {};
  std::vector<std::string> names = {};  // none: all
  std::string namespace_ = {};          // where another than the invocation's is meant
};

/// What the words of a command mean: "pods", "pods,svc", "pod web-1 web-2", "pod/web-1 svc/web".
/// Throws UsageError and what Resources throws.
std::vector<Target> parseTargets(const Resources& resources, const std::vector<std::string>& words);

/// The namespace that a target's objects are in: the usual one, unless it names another; empty
/// where its kind is in none.
String namespaceOf(const Target& target, const String& usual);

/// "pod/web-1", "deployment.apps/web": what kubectl calls an object.
std::string objectName(const RestMapping& mapping, std::string_view name);

/// Whether the server said that it has no such resource, rather than no such object.
bool isNotServed(const std::exception& error);

}  // namespace kube::cmd
