#include "kube/rest/kubeconfig.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <type_traits>
#include <utility>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/yaml.h"
#include "kube/http/internal/files.h"
#include "kube/meta/describe.h"

// The content of a file. Entries are lists in a file, and maps in memory.
namespace kube::detail {

struct NamedCluster {
  String name;
  Kubeconfig::Cluster cluster;
};
struct NamedUser {
  String name;
  Kubeconfig::User user;
};
struct NamedContext {
  String name;
  Kubeconfig::Context context;
};
struct KubeconfigDocument {
  Shared<Kubeconfig::Preferences> preferences;
  List<NamedCluster> clusters;
  List<NamedUser> users;
  List<NamedContext> contexts;
  String currentContext;
  List<Kubeconfig::NamedExtension> extensions;
};

}  // namespace kube::detail

KUBE_DESCRIBE(kube::ExecConfig::EnvVar, (name, keep), (value, keep));
KUBE_DESCRIBE(kube::ExecConfig, (command, keep), args, env, apiVersion, installHint,
              (provideClusterInfo, keep), interactiveMode);
KUBE_DESCRIBE(kube::AuthProviderConfig, (name, keep), config);
KUBE_DESCRIBE(kube::Kubeconfig::NamedExtension, (name, keep), (extension, keep));
KUBE_DESCRIBE(kube::Kubeconfig::Cluster, (server, keep), (tlsServerName, "tls-server-name"),
              (insecureSkipTlsVerify, "insecure-skip-tls-verify"),
              (certificateAuthority, "certificate-authority"),
              (certificateAuthorityData, "certificate-authority-data"), (proxyUrl, "proxy-url"),
              (disableCompression, "disable-compression"), extensions);
KUBE_DESCRIBE(kube::Kubeconfig::User, (clientCertificate, "client-certificate"),
              (clientCertificateData, "client-certificate-data"), (clientKey, "client-key"),
              (clientKeyData, "client-key-data"), token, tokenFile, as, (asUid, "as-uid"),
              (asGroups, "as-groups"), (asUserExtra, "as-user-extra"), username, password,
              (authProvider, "auth-provider"), exec, extensions);
KUBE_DESCRIBE(kube::Kubeconfig::Context, (cluster, keep), (user, keep), namespace_, extensions);
KUBE_DESCRIBE(kube::Kubeconfig::Preferences, colors, extensions);
KUBE_DESCRIBE(kube::detail::NamedCluster, (name, keep), (cluster, keep));
KUBE_DESCRIBE(kube::detail::NamedUser, (name, keep), (user, keep));
KUBE_DESCRIBE(kube::detail::NamedContext, (name, keep), (context, keep));
KUBE_DESCRIBE_KIND(kube::detail::KubeconfigDocument,
                   (.group = "", .version = "v1", .kind = "Config"), preferences, clusters, users,
                   contexts, (currentContext, "current-context", keep), extensions);

namespace kube {
namespace {

std::string nameOf(std::string_view file) {
  return file.empty() ? "kubeconfig" : std::string(file);
}

/// Returns the error without the text that a YAML error may quote, which could be a password.
DecodeError withoutQuotes(const DecodeError& error) {
  std::string_view reason = error.reason();
  reason = reason.substr(0, reason.find('`'));
  if (reason.find("anchor") != std::string_view::npos) reason = reason.substr(0, reason.find(':'));
  return DecodeError(error.where(), std::string(reason));
}

/// Moves a file's list into a map, in the order of names, so that each entry is appended.
template <class Named, class Entry>
void adopt(const List<Named>& from, Entry Named::*entry, Map<Entry>& to, std::string_view file,
           std::string_view list) {
  std::vector<const Named*> ordered;
  for (const Named& named : from) ordered.push_back(&named);
  std::sort(ordered.begin(), ordered.end(),
            [](const Named* a, const Named* b) { return a->name < b->name; });
  for (const Named* named : ordered) {
    if (to.contains(named->name)) {
      throw ConfigError(
          fmt::format("{}: {}: the name \"{}\" is used twice", nameOf(file), list, named->name));
    }
    Entry& added = to.write(named->name);
    added = named->*entry;
    added.origin = file;
  }
}

template <class Named, class Entry>
void list(const Map<Entry>& from, List<Named>& to) {
  for (const auto& [name, entry] : from) to.push_back({name, entry});
}

/// Plugins of early API versions may leave interactiveMode out.
void setDefaults(ExecConfig& exec) {
  if (!exec.interactiveMode.empty()) return;
  if (exec.apiVersion == "client.authentication.k8s.io/v1beta1" ||
      exec.apiVersion == "client.authentication.k8s.io/v1alpha1") {
    exec.interactiveMode = "IfAvailable";
  }
}

void addMissing(List<Kubeconfig::NamedExtension>& to,
                const List<Kubeconfig::NamedExtension>& from) {
  std::set<std::string_view> present;
  const auto before = to;  // keeps the names alive
  for (const auto& extension : before) present.insert(extension.name);
  for (const auto& extension : from) {
    if (!present.contains(extension.name)) to.push_back(extension);
  }
}

template <class Entry>
void addMissing(Map<Entry>& to, const Map<Entry>& from) {
  // In the order of names, as in adopt().
  Map<Entry> merged;
  auto own = std::as_const(to).begin();
  for (const auto& [name, entry] : from) {
    for (; own != std::as_const(to).end() && own->key < name; ++own) {
      merged.insert_or_assign(own->key, own->value);
    }
    if (!to.contains(name)) merged.insert_or_assign(name, entry);
  }
  for (; own != std::as_const(to).end(); ++own) merged.insert_or_assign(own->key, own->value);
  to = std::move(merged);
}

std::vector<std::string> keysOf(const auto& map) {
  std::vector<std::string> keys;
  for (const auto& entry : map) keys.push_back(entry.key.str());
  return keys;
}

void resolve(String& path, const String& origin) {
  if (!path.empty()) path = detail::resolveBeside(path.str(), origin.str());
}

void inlineFile(String& path, Bytes& data, const String& origin, std::string_view field) {
  if (path.empty()) return;
  if (!data.empty()) {
    throw ConfigError(fmt::format("{}: also given as data: only one of both is allowed", field));
  }
  data = detail::readFile(detail::resolveBeside(path.str(), origin.str()));
  path = {};
}

/// Applies a change to every entry; a Map has no mutable iterators.
template <class Entry, class Change>
void forEach(Map<Entry>& map, Change change) {
  for (const std::string& key : keysOf(map)) change(key, map.write(key));
}

void hide(String& secret) {
  if (!secret.empty()) secret = "REDACTED";
}
void hide(Bytes& secret) {
  if (!secret.empty()) secret = "REDACTED";
}

}  // namespace

Kubeconfig Kubeconfig::parse(std::string_view text, std::string_view file) {
  Kubeconfig config;
  detail::KubeconfigDocument document;
  try {
    const auto parts = splitYaml(text);
    if (parts.empty()) return config;
    if (parts.size() > 1) {
      throw ConfigError(nameOf(file) + ": more than one document");
    }
    document = parts.front().as<detail::KubeconfigDocument>();
  } catch (const DecodeError& error) {
    throw ConfigError(fmt::format("{}: {}", nameOf(file), withoutQuotes(error).what()));
  }
  adopt(document.clusters, &detail::NamedCluster::cluster, config.clusters, file, "clusters");
  adopt(document.users, &detail::NamedUser::user, config.users, file, "users");
  adopt(document.contexts, &detail::NamedContext::context, config.contexts, file, "contexts");
  forEach(config.users, [](std::string_view, User& user) {
    if (user.exec) setDefaults(*user.exec);
  });
  config.currentContext = document.currentContext;
  config.preferences = *std::as_const(document).preferences;
  config.extensions = document.extensions;
  return config;
}

Kubeconfig Kubeconfig::read(const std::string& file) { return parse(detail::readFile(file), file); }

// Upstream writes null for empty lists and maps.
std::string Kubeconfig::toYaml() const {
  detail::KubeconfigDocument document;
  list(clusters, document.clusters);
  list(users, document.users);
  list(contexts, document.contexts);
  document.currentContext = currentContext;
  if (preferences != Preferences{}) document.preferences = preferences;
  document.extensions = extensions;

  Value value = parseJson(toJson(document));
  const auto nullUnless = [](Value& parent, std::initializer_list<const char*> fields) {
    for (const char* field : fields) {
      if (!std::as_const(parent).asObject().contains(field)) parent[field] = nullptr;
    }
  };
  nullUnless(value, {"clusters", "users", "contexts"});
  for (std::size_t i = 0; i < users.size(); ++i) {
    Value& user = value["users"][i]["user"];
    if (std::as_const(user)["exec"].isObject()) nullUnless(user["exec"], {"args", "env"});
    if (std::as_const(user)["auth-provider"].isObject()) {
      nullUnless(user["auth-provider"], {"config"});
    }
  }
  return kube::toYaml(value);
}

void Kubeconfig::write(const std::string& file) const { detail::replaceFile(file, toYaml()); }

bool Kubeconfig::empty() const { return *this == Kubeconfig{}; }

void Kubeconfig::merge(const Kubeconfig& other) {
  addMissing(clusters, other.clusters);
  addMissing(users, other.users);
  addMissing(contexts, other.contexts);
  if (currentContext.empty()) currentContext = other.currentContext;
  preferences.colors = preferences.colors || other.preferences.colors;
  addMissing(preferences.extensions, other.preferences.extensions);
  addMissing(extensions, other.extensions);
}

void Kubeconfig::resolvePaths() {
  forEach(clusters, [](std::string_view, Cluster& cluster) {
    if (cluster.origin.empty()) return;
    resolve(cluster.certificateAuthority, cluster.origin);
  });
  forEach(users, [](std::string_view, User& user) {
    if (user.origin.empty()) return;
    resolve(user.clientCertificate, user.origin);
    resolve(user.clientKey, user.origin);
    resolve(user.tokenFile, user.origin);
    // A command without a slash is looked up in $PATH.
    if (user.exec && user.exec.read().command.view().find('/') != std::string_view::npos) {
      resolve(user.exec->command, user.origin);
    }
  });
}

void Kubeconfig::minify() {
  if (currentContext.empty()) throw ConfigError("kubeconfig: there is no current-context");
  if (!contexts.contains(currentContext)) {
    throw ConfigError(fmt::format("kubeconfig: there is no context \"{}\"", currentContext));
  }
  const Context context = contexts.at(currentContext);
  const auto keep = [&](auto& map, const String& name, std::string_view what) {
    std::remove_reference_t<decltype(map)> kept;
    if (!name.empty()) {
      if (!map.contains(name)) {
        throw ConfigError(fmt::format(
            "{}: there is no {} \"{}\"",
            detail::fieldOf(context.origin, "contexts", currentContext, what), what, name));
      }
      kept.insert_or_assign(name, map.at(name));
    }
    return kept;
  };
  auto ownClusters = keep(clusters, context.cluster, "cluster");
  auto ownUsers = keep(users, context.user, "user");
  clusters = std::move(ownClusters);
  users = std::move(ownUsers);
  contexts = {{currentContext, context}};
}

void Kubeconfig::flatten() {
  forEach(clusters, [](std::string_view name, Cluster& cluster) {
    inlineFile(cluster.certificateAuthority, cluster.certificateAuthorityData, cluster.origin,
               detail::fieldOf(cluster.origin, "clusters", name, "certificate-authority"));
  });
  forEach(users, [](std::string_view name, User& user) {
    inlineFile(user.clientCertificate, user.clientCertificateData, user.origin,
               detail::fieldOf(user.origin, "users", name, "client-certificate"));
    inlineFile(user.clientKey, user.clientKeyData, user.origin,
               detail::fieldOf(user.origin, "users", name, "client-key"));
  });
}

Kubeconfig Kubeconfig::redacted() const {
  Kubeconfig copy = *this;
  forEach(copy.users, [](std::string_view, User& user) {
    hide(user.token);
    hide(user.password);
    hide(user.clientKeyData);
    if (user.exec) {
      for (ExecConfig::EnvVar& variable : user.exec->env) hide(variable.value);
    }
    if (user.authProvider) {
      forEach(user.authProvider->config, [](std::string_view key, String& value) {
        if (key.ends_with("token") || key.ends_with("secret")) hide(value);
      });
    }
  });
  return copy;
}

Kubeconfig Kubeconfig::shortened() const {
  // Base64 turns these bytes into DATA+OMITTED, the text that kubectl shows.
  static const Bytes omitted = "\x0c\x04\xc0\xf8\xe3\x08M1\x03";
  Kubeconfig copy = redacted();
  const auto omit = [](Bytes& data) {
    if (!data.empty()) data = omitted;
  };
  forEach(copy.users, [&](std::string_view, User& user) {
    omit(user.clientKeyData);
    omit(user.clientCertificateData);
  });
  forEach(copy.clusters,
          [&](std::string_view, Cluster& cluster) { omit(cluster.certificateAuthorityData); });
  return copy;
}

}  // namespace kube
