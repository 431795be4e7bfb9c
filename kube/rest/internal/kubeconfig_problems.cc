// Problems of a well-formed kubeconfig.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/http/internal/files.h"
#include "kube/rest/kubeconfig.h"
#include "kube/rest/server_url.h"

namespace kube {
namespace {

using Problems = std::vector<std::string>;

/// Collects the problems of one entry.
struct Entry {
  std::string_view origin, list, name;
  Problems& problems;

  template <class... Args>
  void note(std::string_view field, fmt::format_string<Args...> reason, Args&&... args) const {
    problems.push_back(detail::fieldOf(origin, list, name, field) + ": " +
                       fmt::format(reason, std::forward<Args>(args)...));
  }

  void readable(std::string_view field, const String& path) const {
    if (path.empty()) return;
    const std::string file =
        origin.empty() ? path.str() : detail::resolveBeside(path.str(), std::string(origin));
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
      note(field, "cannot read {}: {}", file, std::generic_category().message(errno));
      return;
    }
    ::close(fd);
  }

  void onlyOne(std::string_view field, const String& path, const Bytes& data) const {
    if (!path.empty() && !data.empty()) {
      note(field, "given both as a file and as {}-data: only one of both is allowed", field);
    }
  }
};

bool isDnsLabel(std::string_view text) {
  const auto inner = [](char c) { return detail::isLower(c) || detail::isDigit(c) || c == '-'; };
  return !text.empty() && text.size() <= 63 && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), inner);
}

void findExecProblems(const ExecConfig& exec, const Entry& entry) {
  if (exec.command.empty()) entry.note("exec.command", "missing");
  if (exec.apiVersion.empty()) entry.note("exec.apiVersion", "missing");
  for (const ExecConfig::EnvVar& variable : exec.env) {
    if (variable.name.empty()) entry.note("exec.env", "a variable has no name");
  }
  const String& mode = exec.interactiveMode;
  if (mode.empty()) {
    entry.note("exec.interactiveMode", "missing: Never, IfAvailable or Always");
  } else if (mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    entry.note("exec.interactiveMode", "expected Never, IfAvailable or Always, found \"{}\"", mode);
  }
}

void findContextProblems(std::string_view name, const Kubeconfig::Context& context,
                         const Kubeconfig& config, Problems& problems) {
  const Entry entry{context.origin, "contexts", name, problems};
  if (name.empty()) entry.note("name", "missing");
  if (context.user.empty()) {
    entry.note("user", "missing");
  } else if (!config.users.contains(context.user)) {
    entry.note("user", "there is no user \"{}\"", context.user);
  }
  if (context.cluster.empty()) {
    entry.note("cluster", "missing");
  } else if (!config.clusters.contains(context.cluster)) {
    entry.note("cluster", "there is no cluster \"{}\"", context.cluster);
  }
  if (!context.namespace_.empty() && !isDnsLabel(context.namespace_)) {
    entry.note("namespace", "\"{}\" is not a valid namespace", context.namespace_);
  }
}

constexpr std::string_view kEmpty = "the kubeconfig is empty";

}  // namespace

std::string detail::fieldOf(std::string_view origin, std::string_view list, std::string_view name,
                            std::string_view field) {
  return fmt::format("{}: {}[\"{}\"]{}{}", origin.empty() ? "kubeconfig" : origin, list, name,
                     field.empty() ? "" : ".", field);
}

void detail::findProblems(std::string_view name, const Kubeconfig::Cluster& cluster,
                          Problems& problems) {
  const Entry entry{cluster.origin, "clusters", name, problems};
  if (cluster.server.empty()) entry.note("server", "missing");
  if (!cluster.proxyUrl.empty()) {
    const std::string problem = proxyProblem(cluster.proxyUrl);
    if (!problem.empty()) entry.note("proxy-url", "{}", problem);
  }
  entry.onlyOne("certificate-authority", cluster.certificateAuthority,
                cluster.certificateAuthorityData);
  entry.readable("certificate-authority", cluster.certificateAuthority);
}

void detail::findProblems(std::string_view name, const Kubeconfig::User& user, Problems& problems) {
  const Entry entry{user.origin, "users", name, problems};
  if (!user.token.empty() && (!user.username.empty() || !user.password.empty())) {
    entry.note("token", "given besides username and password: only one of both is allowed");
  }
  if (!user.clientCertificate.empty() || !user.clientCertificateData.empty()) {
    entry.onlyOne("client-certificate", user.clientCertificate, user.clientCertificateData);
    entry.onlyOne("client-key", user.clientKey, user.clientKeyData);
    if (user.clientKey.empty() && user.clientKeyData.empty()) {
      entry.note("client-key", "missing: the client certificate cannot be used without it");
    }
    entry.readable("client-certificate", user.clientCertificate);
    entry.readable("client-key", user.clientKey);
  }
  if (user.exec) {
    if (user.authProvider) entry.note("auth-provider", "cannot be combined with exec");
    findExecProblems(*user.exec, entry);
  }
  if (user.as.empty() &&
      (!user.asUid.empty() || !user.asGroups.empty() || !user.asUserExtra.empty())) {
    entry.note("as", "missing: as-uid, as-groups and as-user-extra need a user to impersonate");
  }
}

std::vector<std::string> Kubeconfig::problems() const {
  if (empty()) return {std::string(kEmpty)};
  Problems found;
  if (!currentContext.empty() && !contexts.contains(currentContext)) {
    found.push_back(fmt::format("current-context: there is no context \"{}\"", currentContext));
  }
  for (const auto& [name, context] : contexts) findContextProblems(name, context, *this, found);
  for (const auto& [name, user] : users) detail::findProblems(name, user, found);
  for (const auto& [name, cluster] : clusters) detail::findProblems(name, cluster, found);
  return found;
}

std::vector<std::string> Kubeconfig::problemsOf(std::string_view context) const {
  if (empty()) return {std::string(kEmpty)};
  const std::string_view name = context.empty() ? currentContext.view() : context;
  if (name.empty()) return {"no context is chosen, and there is no current-context"};
  const auto chosen = contexts.find(name);
  if (chosen == contexts.end()) return {fmt::format("there is no context \"{}\"", name)};

  Problems found;
  findContextProblems(name, chosen->value, *this, found);
  const Context& wanted = chosen->value;
  if (users.contains(wanted.user)) {
    detail::findProblems(wanted.user, users.at(wanted.user), found);
  }
  if (clusters.contains(wanted.cluster)) {
    detail::findProblems(wanted.cluster, clusters.at(wanted.cluster), found);
  }
  return found;
}

void detail::throwProblems(const Problems& problems) {
  if (problems.empty()) return;
  std::string message = "invalid configuration: ";
  for (const std::string& problem : problems) {
    if (&problem != &problems.front()) message += "; ";
    message += problem;
  }
  throw ConfigError(message);
}

void Kubeconfig::validate() const { detail::throwProblems(problems()); }

void Kubeconfig::confirmUsable(std::string_view context) const {
  detail::throwProblems(problemsOf(context));
}

}  // namespace kube
