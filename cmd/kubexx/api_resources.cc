// kubexx api-resources and api-versions: lists a server's resources and versions.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <set>

#include "cmd/kubexx/command.h"
#include "cmd/kubexx/commands.h"
#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/object_printer.h"
#include "cmd/kubexx/resources.h"
#include "cmd/kubexx/table_layout.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/client/api_discovery/cached_discovery_client.h"

namespace kube::cmd {

namespace {

struct ApiResourcesCommand {
  std::string output = {};
  std::string namespaced = {};
  std::string apiGroup = {};
  bool hasGroup = false;
  std::vector<std::string> verbs = {}, categories = {};
  bool noHeaders = false, cached = false;
  std::string sortBy = {};
};

struct Row {
  GroupVersion version;
  metav1::APIResource resource;

  std::string fullName() const { return GroupResource{version.group, resource.name}.str(); }
};

std::string listed(const List<String>& parts) {
  std::string text;
  for (const String& part : parts) text += (text.empty() ? "" : ",") + part.str();
  return text;
}

bool hasAll(const List<String>& have, const std::vector<std::string>& wanted) {
  for (const std::string& some : wanted) {
    for (const std::string& one : splitCommas(some)) {
      if (std::ranges::find(have, one, &String::view) == have.end()) return false;
    }
  }
  return true;
}

void apiResources(Invocation& invocation, const ApiResourcesCommand& command) {
  const bool wide = command.output == "wide";
  if (!command.output.empty() && !wide && command.output != "name") {
    throw UsageError(
        fmt::format("--output {} is not available: expected wide or name", command.output));
  }
  const CachedDiscoveryClient& discovery = invocation.resources().discovery();
  if (!command.cached) discovery.invalidate();
  const ServerResources served = discovery.serverPreferredResources(invocation.stop());

  std::vector<Row> rows;
  for (const metav1::APIResourceList& list : served.resources) {
    const auto version = GroupVersion::tryParse(list.groupVersion);
    if (!version) continue;
    for (const metav1::APIResource& resource : list.resources) {
      if (resource.verbs.empty()) continue;
      if (command.hasGroup && version->group != command.apiGroup) continue;
      if (!command.namespaced.empty() && resource.namespaced != (command.namespaced == "true")) {
        continue;
      }
      if (!hasAll(resource.verbs, command.verbs)) continue;
      if (!hasAll(resource.categories, command.categories)) continue;
      rows.push_back({*version, resource});
    }
  }
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    if (command.sortBy == "name") return a.resource.name < b.resource.name;
    if (command.sortBy == "kind") return a.resource.kind < b.resource.kind;
    if (a.version.group != b.version.group) return a.version.group < b.version.group;
    return a.resource.name < b.resource.name;
  });

  if (command.output == "name") {
    for (const Row& row : rows) invocation.out << row.fullName() << '\n';
  } else {
    TableLayout layout(invocation.colours());
    const auto add = [&](std::vector<std::string> texts, Style style) {
      std::vector<Cell> cells;
      for (std::string& text : texts) cells.push_back({std::move(text), style});
      layout.row(std::move(cells));
    };
    if (!command.noHeaders) {
      std::vector<std::string> headers{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"};
      if (wide) headers.insert(headers.end(), {"VERBS", "CATEGORIES"});
      add(std::move(headers), Style::Header);
    }
    for (const Row& row : rows) {
      std::vector<std::string> cells{row.resource.name.str(), listed(row.resource.shortNames),
                                     row.version.str(), row.resource.namespaced ? "true" : "false",
                                     row.resource.kind.str()};
      if (wide) {
        cells.push_back(listed(row.resource.verbs));
        cells.push_back(listed(row.resource.categories));
      }
      add(std::move(cells), Style::Plain);
    }
    invocation.out << OwnText{layout.flush()};
  }
  for (const DiscoveryFailure& failure : served.failed) {
    invocation.err << fmt::format("error: unable to retrieve the server APIs: {}: {}\n",
                                  failure.version.str(), failure.message);
    invocation.exitCode = 1;
  }
}

void apiVersions(Invocation& invocation) {
  const CachedDiscoveryClient& discovery = invocation.resources().discovery();
  discovery.invalidate();
  std::set<std::string> versions;
  for (const metav1::APIGroup& group : discovery.serverGroups(invocation.stop()).groups) {
    for (const metav1::GroupVersionForDiscovery& version : group.versions) {
      versions.insert(version.groupVersion.str());
    }
  }
  for (const std::string& version : versions) invocation.out << version << '\n';
}

}  // namespace

void addApiResources(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ApiResourcesCommand>();
  // Distinguishes --api-group= , the core group, from no flag.
  const auto group = std::make_shared<std::vector<std::string>>();
  Command(app, "api-resources", "List the resources of the server")
      .option("-o,--output", options->output, "wide or name")
      .flag("--namespaced", options->namespaced,
            "Only resources in namespaces; with =false, only those of the cluster")
      .option("--api-group", *group, "Only resources of this group")
      .option("--verbs", options->verbs, "Only resources with these verbs")
      .option("--categories", options->categories, "Only resources in these categories")
      .option("--sort-by", options->sortBy, "Sort by name or kind")
      .flag("--no-headers", options->noHeaders, "Leave out the headers")
      .flag("--cached", options->cached, "Use cached discovery if there is any")
      .run([&invocation, options, group] {
        options->hasGroup = !group->empty();
        if (options->hasGroup) options->apiGroup = group->back();
        apiResources(invocation, *options);
      });
}

void addApiVersions(CLI::App& app, Invocation& invocation) {
  Command(app, "api-versions", "List the groups and versions of the server").run([&invocation] {
    apiVersions(invocation);
  });
}

}  // namespace kube::cmd
