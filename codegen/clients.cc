// Clientset and the clients of its group-versions. They consist of accessors that name types.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "codegen/generate.h"
#include "codegen/names.h"
#include "kube/base/error.h"

namespace kube::codegen {

namespace {

// Clients with more than the standard verbs. A resource gets the client of the first row whose
// subresource it has. T is the resource's type, Body that of the subresource.
struct Extra {
  std::string_view subresource;
  std::string_view client;
  std::string_view header;
};
constexpr Extra kExtras[] = {
    {"log", "PodClient", "kube/client/pods/pod_client.h"},
    {"proxy", "ProxyClient<T>", "kube/client/subresource_clients.h"},
    {"scale", "ScalableClient<T, Body>", "kube/client/subresource_clients.h"},
    {"token", "TokenClient<T, Body>", "kube/client/subresource_clients.h"},
    {"approval", "ApprovalClient<T>", "kube/client/subresource_clients.h"},
    {"finalize", "FinalizeClient<T>", "kube/client/subresource_clients.h"},
};
constexpr std::string_view kClientset = "kube/client/clientset.h";

class ClientWriter {
 public:
  ClientWriter(const Schema& schema, const Package& package)
      : schema_(schema), package_(package), lib_(package.custom ? "kube::" : "") {}

  std::string header() {
    const std::string name = groupVersionName(package_);
    const std::string version =
        package_.group.empty() ? package_.version : package_.group + "/" + package_.version;
    std::string accessors;
    bool served = false;
    for (const Kind& kind : package_.kinds) {
      if (kind.resource.empty()) continue;
      served = served || !kind.retired;
      accessors += accessor(kind);
    }
    std::string out(package_.custom ? kCustomBanner : kBanner);
    out += fmt::format("//\n// clients.{}(): a client for each resource of {}.\n", lowerFirst(name),
                       version);
    if (package_.custom) {
      out += fmt::format(
          "//\n//   kube::ClientsetWith<{0}::WithClient> clients(config);\n"
          "//   {0}::{1}Client({2});              // or, for an existing Clientset\n",
          fullNamespaceOf(package_), name, "clients");
    }
    if (!served) out += "// Current releases of Kubernetes no longer serve any of them.\n";
    out += "#pragma once\n\n";
    includes_.insert(
        {std::string(kClientset), pathOf(package_) + ".h", "kube/client/resource_client.h"});
    if (package_.custom) includes_.insert("kube/client/clientset_with.h");
    for (const std::string& include : includes_) out += fmt::format("#include \"{}\"\n", include);
    if (package_.custom) return out + customClass(name, accessors);
    out += fmt::format(R"(
namespace kube {{

class {0}Client : public detail::GroupClient {{
 public:
  explicit {0}Client(const RestClient& rest) : GroupClient(rest, {{{1}, {2}}}) {{}}

{3}}};

inline {0}Client Clientset::{4}() const {{ return {0}Client(rest_); }}

}}  // namespace kube
)",
                       name, literal(package_.group), literal(package_.version), accessors,
                       lowerFirst(name));
    return out;
  }

 private:
  std::string customClass(const std::string& name, const std::string& accessors) const {
    return fmt::format(R"(
namespace {0} {{

class {1}Client : public kube::detail::GroupClient {{
 public:
  explicit {1}Client(const kube::RestClient& rest) : GroupClient(rest, {{{2}, {3}}}) {{}}
  explicit {1}Client(const kube::Clientset& clients) : {1}Client(clients.rest()) {{}}

{4}}};

/// For kube::ClientsetWith.
template <class Base>
class WithClient : public Base {{
 public:
  using Base::Base;
  {1}Client {5}() const {{ return {1}Client(this->rest()); }}
}};

}}  // namespace {0}
)",
                       fullNamespaceOf(package_), name, literal(package_.group),
                       literal(package_.version), accessors, lowerFirst(name));
  }

  std::string accessor(const Kind& kind) {
    return fmt::format("  auto {}({}) const {{ return {}(rest(){}); }}\n", accessorName(kind),
                       kind.namespaced ? lib_ + "String namespaceName = {}" : "", clientType(kind),
                       kind.namespaced ? ", std::move(namespaceName)" : "");
  }

  std::string clientType(const Kind& kind) {
    const std::string type =
        package_.custom ? typeOf(kind) : namespaceOf(package_.name) + "::" + typeName(kind.kind);
    for (const Extra& extra : kExtras) {
      const auto sub = std::ranges::find(kind.subresources, extra.subresource, &Subresource::name);
      if (sub == kind.subresources.end()) continue;
      includes_.emplace(extra.header);
      std::string client = lib_ + std::string(extra.client);
      if (const auto at = client.find("Body"); at != std::string::npos) {
        client.replace(at, 4, bodyType(*sub));
      }
      if (const auto at = client.find("<T"); at != std::string::npos) {
        client.replace(at + 1, 1, type);
      }
      return client;
    }
    return lib_ + "ResourceClient<" + type + ">";
  }

  std::string bodyType(const Subresource& sub) {
    const bool own = sub.group.empty() && sub.version.empty();
    for (const auto& [name, package] : schema_) {
      const bool same = own ? &package == &package_
                            : package.group == sub.group && package.version == sub.version;
      if (!same || package.find(sub.kind) == nullptr) continue;
      includes_.insert(pathOf(name) + ".h");
      return lib_ + namespaceOf(name) + "::" + typeName(sub.kind);
    }
    throw Error(fmt::format("{}: no package has the body of the subresource {}: {}", package_.name,
                            sub.name, sub.kind));
  }

  const Schema& schema_;
  const Package& package_;
  const std::string lib_;  // the prefix of the library's names
  std::set<std::string> includes_;
};

constexpr std::string_view kClientsetTop = R"(//
// A client for every resource of every built-in API, by group and version.
//
//   #include "kube/client/clientset.h"
//   #include "kube/client/core/v1.h"            // each group-version that is used
//
//   kube::Clientset clients(kube::Config::load());
//   auto pod = clients.coreV1().pods("book").get("example");
//   for (const auto& node : clients.coreV1().nodes().list().items) ...
//   auto everywhere = clients.coreV1().pods().list();
//
// An accessor returns a ResourceClient, or a class derived from it for resources with more than the
// standard verbs, such as the logs of pods. Accessors of namespaced resources take a namespace;
// without it, the client lists and watches in all namespaces. Accessors of cluster-wide resources
// take none.
//
// This header only declares the clients of group-versions. If a compiler reports that AppsV1Client
// is an incomplete type, include kube/client/apps/v1.h. kube/kube.h includes the stable versions.
//
// Performance: clients are cheap handles. All clients of a Clientset and its copies share one
// connection with its I/O thread, and one rate limit. Other clients share them through rest().
//
// Thread safety: every method may be called from any thread.
#pragma once

#include <utility>

#include "kube/meta/gvk.h"
#include "kube/rest/rest_client.h"

namespace kube {

)";

constexpr std::string_view kClientsetMiddle = R"(
namespace detail {

/// The common base of the clients of group-versions.
class GroupClient {
 public:
  /// The REST client of this group-version.
  const RestClient& rest() const noexcept { return rest_; }

 protected:
  GroupClient(const RestClient& rest, GroupVersion version)
      : rest_(rest.forVersion(std::move(version))) {}

 private:
  RestClient rest_;
};

}  // namespace detail

class Clientset {
 public:
  /// Throws ConfigError.
  explicit Clientset(const Config& config) : Clientset(RestClient(config)) {}
  /// Shares the connection.
  explicit Clientset(RestClient rest) : rest_(std::move(rest)) {}

  /// A Clientset whose requests have these options; see ClientDefaults.
  Clientset with(const ClientDefaults& defaults) const {
    return Clientset(rest_.withDefaults(defaults));
  }

)";

constexpr std::string_view kClientsetBottom = R"(
  /// For other clients of the same connection: DynamicClient(clients.rest()).
  const RestClient& rest() const noexcept { return rest_; }

 private:
  RestClient rest_;
};

}  // namespace kube
)";

}  // namespace

GeneratedFile generateCustomClient(const Schema& schema, const Package& package) {
  return {pathOf(package) + "_client.h", ClientWriter(schema, package).header()};
}

std::vector<GeneratedFile> generateClients(const Schema& schema) {
  std::vector<GeneratedFile> files;
  std::string classes;
  std::string accessors;
  for (const auto& [name, package] : schema) {
    const auto isResource = [](const Kind& kind) { return !kind.resource.empty(); };
    if (std::ranges::none_of(package.kinds, isResource)) continue;
    const std::string client = groupVersionName(package);
    classes += fmt::format("class {}Client;\n", client);
    accessors += fmt::format("  {}Client {}() const;\n", client, lowerFirst(client));
    files.push_back({fmt::format("kube/client/{}/{}.h", folderOf(name), versionOf(name)),
                     ClientWriter(schema, package).header()});
  }
  std::string clientset(kBanner);
  clientset += kClientsetTop;
  clientset += classes;
  clientset += kClientsetMiddle;
  clientset += accessors;
  clientset += kClientsetBottom;
  files.push_back({std::string(kClientset), std::move(clientset)});
  return files;
}

}  // namespace kube::codegen
