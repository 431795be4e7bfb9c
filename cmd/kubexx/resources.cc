#include "cmd/kubexx/resources.h"

#include <fmt/core.h>

#include <ostream>

#include "cmd/kubexx/invocation.h"
#include "kube/api/rest_mapper.h"
#include "kube/base/internal/text.h"
#include "kube/client/api_discovery/cached_discovery_client.h"
#include "kube/client/api_discovery/discovery_rest_mapper.h"
#include "kube/meta/api_error.h"

namespace kube::cmd {

namespace {

// True for versions that servers have had for years: without alpha or beta in the name.
bool isStable(const GroupVersion& version) {
  return version.version.view().find("alpha") == std::string_view::npos &&
         version.version.view().find("beta") == std::string_view::npos;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

Resources::Resources(const RestClient& rest, std::string cacheDir, std::ostream& notes)
    : rest_(rest), cacheDir_(std::move(cacheDir)), notes_(notes) {}
Resources::~Resources() = default;

const CachedDiscoveryClient& Resources::discovery() const {
  if (discovery_) return *discovery_;
  if (!cacheDir_.empty()) ::setenv("KUBECACHEDIR", cacheDir_.c_str(), 1);
  discovery_ = std::make_shared<const CachedDiscoveryClient>(
      DiscoveryClient(rest_),
      DiscoveryCacheOptions{.folder = discoveryCacheFolder(rest_.config())});
  return *discovery_;
}

const DiscoveryRestMapper& Resources::served() const {
  if (mapper_) return *mapper_;
  discovery();
  mapper_ = discoveryRestMapper(
      discovery_, [this](const std::string& warning) { notes_ << "Warning: " << warning << '\n'; });
  return *mapper_;
}

const RestMapper& Resources::mapper() const { return served(); }

std::optional<RestMapping> Resources::builtIn(std::string_view name) const {
  if (!trustBuiltIn_) return std::nullopt;
  try {
    RestMapping known = mappingFor(builtInRestMapper(), name);
    if (isStable(known.gvr.groupVersion())) return known;
  } catch (const Error& error) {
    if (!isNoMatch(error) && !isAmbiguous(error)) throw;
  }
  return std::nullopt;
}

RestMapping Resources::find(std::string_view name) const {
  if (const auto known = builtIn(name)) return *known;
  return mappingFor(served(), name);
}

std::vector<RestMapping> Resources::expand(std::string_view name) const {
  if (const auto known = builtIn(name)) return {*known};
  // Categories come first: a name that is not found makes the mapper ask the server again.
  const auto members = served().expand(name);
  if (!members) return {mappingFor(served(), name)};
  std::vector<RestMapping> found;
  for (const GroupResource& member : *members) found.push_back(mappingFor(served(), member.str()));
  return found;
}

std::vector<Target> parseTargets(const Resources& resources,
                                 const std::vector<std::string>& words) {
  if (words.empty()) {
    throw UsageError(
        "You must specify the type of resource to get, as in `pods`, `pods,services`, `pod NAME` "
        "or `pod/NAME`. Use \"kubexx api-resources\" for a complete list of supported resources.");
  }
  std::vector<Target> targets;
  const auto add = [&](const RestMapping& mapping, std::string name) {
    if (targets.empty() || targets.back().mapping != mapping) targets.push_back({mapping});
    targets.back().names.push_back(std::move(name));
  };
  if (words[0].find('/') != std::string::npos) {
    for (const std::string& word : words) {
      const std::size_t slash = word.find('/');
      if (slash == std::string::npos) {
        throw UsageError(
            fmt::format("there is no need to specify a resource type as a separate argument when "
                        "passing arguments in resource/name form (e.g. 'kubexx get "
                        "resource/<resource_name>'), and \"{}\" is not in that form",
                        word));
      }
      const std::string name = word.substr(slash + 1);
      if (slash == 0 || name.empty() || name.find('/') != std::string::npos) {
        throw UsageError(
            "arguments in resource/name form must have a single resource and name: \"" + word +
            "\"");
      }
      for (const std::string& type : split(word.substr(0, slash), ',')) {
        add(resources.find(type), name);
      }
    }
    return targets;
  }
  for (const std::string& type : split(words[0], ',')) {
    if (type.empty()) continue;
    for (const RestMapping& mapping : resources.expand(type)) {
      if (words.size() == 1) {
        targets.push_back({mapping});
        continue;
      }
      for (std::size_t i = 1; i < words.size(); ++i) {
        // A script may pass a variable that is not set.
        if (words[i].empty()) throw UsageError("resource name may not be empty");
        if (words[i].find('/') != std::string::npos) {
          throw UsageError(fmt::format(
              "there is no need to specify a resource type as a separate argument when passing "
              "arguments in resource/name form (e.g. 'kubexx get resource/<resource_name>' instead "
              "of 'kubexx get resource resource/<resource_name>': \"{}\"",
              words[i]));
        }
        add(mapping, words[i]);
      }
    }
  }
  return targets;
}

String namespaceOf(const Target& target, const String& usual) {
  if (target.mapping.scope != RestScope::Namespace) return {};
  return target.namespace_.empty() ? usual : String(target.namespace_);
}

std::string objectName(const RestMapping& mapping, std::string_view name) {
  const GroupKind kind{mapping.gvk.group, detail::lower(mapping.gvk.kind)};
  return fmt::format("{}/{}", kind.str(), name);
}

bool isNotServed(const std::exception& error) {
  const auto* api = dynamic_cast<const ApiError*>(&error);
  return api != nullptr && isNotFound(*api) && isUnexpectedServerError(*api);
}

}  // namespace kube::cmd
