// Sources of a Config: kubeconfigs and pods.
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/base/joined.h"
#include "kube/base/log.h"
#include "kube/http/internal/files.h"
#include "kube/http/internal/key_pair.h"
#include "kube/rest/config.h"
#include "kube/rest/kubeconfig_files.h"

namespace kube {
namespace {

const Logger& log() {
  static const Logger logger("config");
  return logger;
}

bool isFile(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

bool isInPod(const LoadOptions& options) {
  return !detail::environment("KUBERNETES_SERVICE_HOST").empty() &&
         !detail::environment("KUBERNETES_SERVICE_PORT").empty() &&
         isFile(options.serviceAccountFolder + "/token");
}

std::string podNamespace(const LoadOptions& options) {
  if (std::string name = detail::environment("POD_NAMESPACE"); !name.empty()) return name;
  try {
    const auto text = detail::findFile(options.serviceAccountFolder + "/namespace", 4096);
    if (text && !detail::trim(*text).empty()) return std::string(detail::trim(*text));
  } catch (const ConfigError& error) {
    log().warning("cannot read the pod's namespace, using \"default\": {}", error.what());
  }
  return "default";
}

/// The cluster, user and namespace that a kubeconfig and the options select.
struct Choice {
  std::string clusterName, userName;
  Kubeconfig::Cluster cluster;
  Kubeconfig::User user;
  std::string namespace_;
};

std::string chosenContext(const Kubeconfig& kubeconfig, const LoadOptions& options) {
  return options.context.empty() ? kubeconfig.currentContext.str() : options.context;
}

/// Returns whether anything selects a server.
bool choosesServer(const Kubeconfig& kubeconfig, const LoadOptions& options) {
  return !chosenContext(kubeconfig, options).empty() || !options.cluster.empty() ||
         !options.server.empty();
}

template <class Entry>
const Entry& lookUp(const Map<Entry>& entries, const std::string& name, std::string_view what,
                    const std::string& asked) {
  const auto found = entries.find(name);
  if (found != entries.end()) return found->value;
  std::string known;
  for (const auto& entry : entries) {
    known.append(known.empty() ? "" : ", ").append(entry.key.view());
  }
  throw ConfigError(fmt::format("{}: there is no {} \"{}\"; there are: {}", asked, what, name,
                                known.empty() ? "none" : known));
}

Choice choose(const Kubeconfig& kubeconfig, const LoadOptions& options) {
  Choice choice;
  Kubeconfig::Context context;
  const std::string contextName = chosenContext(kubeconfig, options);
  if (!contextName.empty()) {
    context = lookUp(kubeconfig.contexts, contextName, "context",
                     options.context.empty() ? "current-context" : "the requested context");
  }
  const auto pick = [&](const auto& entries, const String& own, const std::string& asked,
                        std::string& name, std::string_view what) {
    typename std::remove_cvref_t<decltype(entries)>::mapped_type entry;
    name = asked.empty() ? own.str() : asked;
    if (name.empty()) return entry;
    return lookUp(entries, name, what,
                  asked.empty() ? detail::fieldOf(context.origin, "contexts", contextName, what)
                                : fmt::format("the requested {}", what));
  };
  choice.cluster =
      pick(kubeconfig.clusters, context.cluster, options.cluster, choice.clusterName, "cluster");
  choice.user = pick(kubeconfig.users, context.user, options.user, choice.userName, "user");
  choice.namespace_ = options.namespace_.empty() ? context.namespace_.str() : options.namespace_;

  if (!options.server.empty()) {
    choice.cluster.server = options.server;
    // The name belongs to the server that is replaced.
    choice.cluster.tlsServerName = {};
  }
  return choice;
}

void takeCluster(const Choice& choice, Config& config) {
  const Kubeconfig::Cluster& cluster = choice.cluster;
  const auto field = [&](std::string_view name) {
    return detail::fieldOf(cluster.origin, "clusters", choice.clusterName, name);
  };
  config.tls.caFile = cluster.certificateAuthority.str();
  config.tls.caData = cluster.certificateAuthorityData.str();
  config.tls.insecureSkipVerify = cluster.insecureSkipTlsVerify;
  config.tls.serverName = cluster.tlsServerName.str();
  const bool hasAuthority = !config.tls.caFile.empty() || !config.tls.caData.empty();
  if (!hasAuthority) return;
  if (config.tls.insecureSkipVerify) {
    throw ConfigError(field("insecure-skip-tls-verify") +
                      ": cannot be combined with a certificate authority");
  }
  const bool inlined = !config.tls.caData.empty();
  const std::string_view problem =
      detail::authoritiesProblem(inlined ? config.tls.caData : detail::readFile(config.tls.caFile));
  if (problem.empty()) return;
  throw ConfigError(fmt::format(
      "{}: {}", field(inlined ? "certificate-authority-data" : "certificate-authority"), problem));
}

void takeUser(const Choice& choice, Config& config) {
  const Kubeconfig::User& user = choice.user;
  const auto field = [&](std::string_view name) {
    return detail::fieldOf(user.origin, "users", choice.userName, name);
  };
  config.bearerToken = user.token.str();
  config.bearerTokenFile = user.tokenFile.str();
  if (config.bearerToken.empty() && !config.bearerTokenFile.empty() &&
      detail::trim(detail::readFile(config.bearerTokenFile)).empty()) {
    throw ConfigError(fmt::format("{}: {} is empty", field("tokenFile"), config.bearerTokenFile));
  }
  config.username = user.username.str();
  config.password = user.password.str();
  config.authProvider = user.authProvider;
  config.exec = user.exec;
  if (config.exec) {
    for (const auto& extension : choice.cluster.extensions) {
      if (extension.name == detail::kExecExtension) {
        config.exec->clusterConfig = extension.extension;
      }
    }
  }

  if (user.clientCertificate.empty() && user.clientCertificateData.empty()) return;
  config.tls.certFile = user.clientCertificate.str();
  config.tls.certData = user.clientCertificateData.str();
  config.tls.keyFile = user.clientKey.str();
  config.tls.keyData = user.clientKeyData.str();
  const auto content = [](const std::string& data, const std::string& file) {
    return data.empty() ? detail::readFile(file) : data;
  };
  const std::string_view problem =
      detail::keyPairProblem(content(config.tls.certData, config.tls.certFile),
                             content(config.tls.keyData, config.tls.keyFile));
  if (!problem.empty()) {
    throw ConfigError(fmt::format(
        "{}: {}",
        field(config.tls.certData.empty() ? "client-certificate" : "client-certificate-data"),
        problem));
  }
}

Config fromChoice(const Choice& choice) {
  std::vector<std::string> problems;
  detail::findProblems(choice.userName, choice.user, problems);
  detail::findProblems(choice.clusterName, choice.cluster, problems);
  detail::throwProblems(problems);

  Config config;
  config.host = choice.cluster.server.str();
  config.proxy = choice.cluster.proxyUrl.str();
  config.disableCompression = choice.cluster.disableCompression;
  if (!choice.namespace_.empty()) config.namespace_ = choice.namespace_;
  config.impersonate.user = choice.user.as.str();
  config.impersonate.uid = choice.user.asUid.str();
  for (const String& group : choice.user.asGroups) config.impersonate.groups.push_back(group.str());
  for (const auto& [key, values] : choice.user.asUserExtra) {
    auto& extra = config.impersonate.extra[key.str()];
    for (const String& value : values) extra.push_back(value.str());
  }
  // Secrets are sent over TLS only: those of kubeconfigs for other servers are ignored, as by
  // kubectl (Config::requireTlsForSecrets() checks those set elsewhere). A server without a scheme
  // is reached without TLS.
  bool tls = false;
  try {
    tls = config.serverUrl().tls();
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format(
        "{}: {}", detail::fieldOf(choice.cluster.origin, "clusters", choice.clusterName, "server"),
        error.what()));
  }
  if (tls) {
    takeUser(choice, config);
    takeCluster(choice, config);
  }
  return config;
}

[[noreturn]] void nothingFound(const std::vector<std::string>& looked) {
  std::vector<std::string> there, missing;
  for (const std::string& path : looked) (isFile(path) ? there : missing).push_back(path);
  std::string found;
  if (!there.empty()) {
    found = joined(there, ", ") + (there.size() == 1 ? " names" : " name") + " no current-context";
  }
  if (!missing.empty()) {
    found += fmt::format("{}there is no {}", found.empty() ? "" : ", ", joined(missing, ", "));
    if (!detail::environment("KUBECONFIG").empty()) found += ", which $KUBECONFIG names";
  }
  throw ConfigError(fmt::format(
      "no configuration: {}, and this does not run in a pod; set $KUBECONFIG or name a kubeconfig",
      found.empty() ? "$KUBECONFIG names no file" : found));
}

AuthProviderPersister persisterFor(KubeconfigFiles files, std::string user) {
  return [files = std::move(files), user = std::move(user)](const Map<String>& config) {
    files.modify([&](Kubeconfig& kubeconfig) {
      if (!std::as_const(kubeconfig.users)[user].authProvider) return;
      kubeconfig.users.write(user).authProvider->config = config;
    });
  };
}

}  // namespace

Config Config::inCluster(const LoadOptions& options) {
  const std::string host = detail::environment("KUBERNETES_SERVICE_HOST");
  const std::string port = detail::environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    throw ConfigError(
        "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  const std::string& folder = options.serviceAccountFolder;
  Config config;
  const bool isIpv6 = host.find_first_of(":%") != std::string::npos;
  config.host = fmt::format("https://{}:{}", isIpv6 ? "[" + host + "]" : host, port);
  config.disableCompression = true;  // the network of a cluster is faster than compression
  config.bearerTokenFile = folder + "/token";
  if (detail::trim(detail::readFile(config.bearerTokenFile)).empty()) {
    throw ConfigError(config.bearerTokenFile + ": is empty");
  }
  config.serverUrl();  // throws if the variables are malformed

  const std::string authority = folder + "/ca.crt";
  try {
    const std::string_view problem = detail::authoritiesProblem(detail::readFile(authority));
    if (!problem.empty()) throw ConfigError(fmt::format("{}: {}", authority, problem));
    config.tls.caFile = authority;
  } catch (const ConfigError& error) {
    log().error("checking the API server with the system's authorities instead: {}", error.what());
  }

  if (!options.server.empty()) config.host = options.server;
  config.namespace_ = options.namespace_.empty() ? podNamespace(options) : options.namespace_;
  return config;
}

Config Config::load(const LoadOptions& options) {
  const KubeconfigFiles files(options.path);
  const Kubeconfig kubeconfig = files.load();
  if (!choosesServer(kubeconfig, options)) {
    if (isInPod(options)) return inCluster(options);
    nothingFound(files.paths());
  }
  Choice choice = choose(kubeconfig, options);
  if (choice.namespace_.empty() && isInPod(options)) choice.namespace_ = podNamespace(options);
  Config config = fromChoice(choice);
  if (config.authProvider) config.authProviderPersister = persisterFor(files, choice.userName);
  return config;
}

Config Config::fromFlags(const std::string& master, const std::string& kubeconfig) {
  if (!kubeconfig.empty()) return load({.path = kubeconfig, .server = master});
  if (!master.empty()) return fromKubeconfig(Kubeconfig{}, {.server = master});
  log().info("neither a master nor a kubeconfig is set: using the pod's service account");
  return inCluster();
}

Config Config::fromKubeconfig(std::string_view text, const LoadOptions& options) {
  return fromKubeconfig(Kubeconfig::parse(text), options);
}

Config Config::fromKubeconfig(const Kubeconfig& kubeconfig, const LoadOptions& options) {
  if (!choosesServer(kubeconfig, options)) {
    throw ConfigError("the kubeconfig names no current-context, and no context is selected");
  }
  Kubeconfig resolved = kubeconfig;
  resolved.resolvePaths();
  return fromChoice(choose(resolved, options));
}

}  // namespace kube
