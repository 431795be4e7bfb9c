// Checks of server extensions: webhooks and aggregated APIs.
#include <fmt/core.h>

#include <algorithm>

#include "kube/apiserver/rules/built_in_kinds.h"
#include "kube/apiserver/rules/built_in_validation.h"

namespace kube::apiserver::rules {

namespace {

using admissionregistrationv1::RuleWithOperations;

bool has(const List<String>& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// "*" must be the only element.
void checkList(const List<String>& list, std::string_view what, const Place& at) {
  if (list.empty()) at.required();
  if (list.size() > 1 && has(list, "*")) {
    at.invalid(shown(list), fmt::format("if '*' is present, must not specify other {}", what));
  }
}

void checkResources(const List<String>& resources, const Place& at) {
  if (resources.empty()) at.required();
  Seen wholes;  // "pods" of "pods/*"
  Seen parts;   // "status" of "*/status"
  bool plain = false;
  forEach(resources, at, [&](const String& resource, const Place& at) {
    if (!at.require(resource)) return;
    const std::size_t slash = resource.view().find('/');
    if (slash == std::string_view::npos) {
      plain = resource != "*";
      return;
    }
    const std::string_view whole = resource.view().substr(0, slash);
    const std::string_view part = resource.view().substr(slash + 1);
    if (wholes.has(whole)) {
      at.invalid(resource,
                 fmt::format("if '{}/*' is present, must not specify {}", whole, resource));
    }
    if (parts.has(part)) {
      at.invalid(resource,
                 fmt::format("if '*/{}' is present, must not specify {}", part, resource));
    }
    if (part == "*") wholes.insert(whole);
    if (whole == "*") parts.insert(part);
  });
  if (resources.size() > 1 && has(resources, "*/*")) {
    at.invalid(shown(resources), "if '*/*' is present, must not specify other resources");
  }
  if (plain && has(resources, "*")) {
    at.invalid(shown(resources),
               "if '*' is present, must not specify other resources without subresources");
  }
}

void checkRule(const RuleWithOperations& rule, const Place& at) {
  checkList(rule.operations, "operations", at("operations"));
  forEach(rule.operations, at("operations"), [](const String& operation, const Place& at) {
    at.oneOfSupported(operation, {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"});
  });
  checkList(rule.apiGroups, "API groups", at("apiGroups"));
  checkList(rule.apiVersions, "API versions", at("apiVersions"));
  forEach(rule.apiVersions, at("apiVersions"),
          [](const String& version, const Place& at) { at.require(version); });
  checkResources(rule.resources, at("resources"));
  at("scope").oneOf(rule.scope, {"*", "Cluster", "Namespaced"});
}

void checkReviewVersions(const List<String>& versions, const Place& at) {
  if (versions.empty()) return at.required("must specify one of v1, v1beta1");
  Seen seen;
  forEach(versions, at, [&](const String& version, const Place& at) {
    if (!seen.insert(version)) return at.invalid(version, "duplicate version");
    at.text(version, validation::isDNS1035Label);
  });
  if (!has(versions, "v1") && !has(versions, "v1beta1")) {
    at.invalid(shown(versions), "must include at least one of v1, v1beta1");
  }
}

void checkClient(const admissionregistrationv1::WebhookClientConfig& client, const Place& at) {
  if (client.url.has_value() == bool{client.service}) {
    return at.required("exactly one of url or service is required");
  }
  if (client.url) {
    if (!client.url->view().starts_with("https://")) {
      at("url").invalid(
          *client.url,
          "'https' is the only allowed URL scheme; desired format: https://host[/path]");
    }
    return;
  }
  const Place service = at("service");
  if (client.service->name.empty()) service("name").required("service name is required");
  if (client.service->namespace_.empty()) {
    service("namespace").required("service namespace is required");
  }
  if (client.service->port && !validation::isValidPortNum(*client.service->port).empty()) {
    service("port").invalid(*client.service->port,
                            "port is not valid: must be between 1 and 65535, inclusive");
  }
  const String path = client.service->path.value_or("");
  if (!path.empty() && !path.view().starts_with('/')) {
    service("path").invalid(path, "must start with a '/'");
  }
}

/// For MutatingWebhook and ValidatingWebhook.
template <class Webhook>
void checkWebhook(const Webhook& webhook, const Place& at) {
  const Place name = at("name");
  name.add(validation::isFullyQualifiedName(name.path(), webhook.name));
  forEach(webhook.rules, at("rules"), checkRule);
  at("failurePolicy").oneOf(webhook.failurePolicy, {"Fail", "Ignore"});
  at("matchPolicy").oneOf(webhook.matchPolicy, {"Equivalent", "Exact"});
  if (!webhook.sideEffects) {
    at("sideEffects").required("must specify one of None, NoneOnDryRun");
  } else {
    at("sideEffects").oneOf(webhook.sideEffects, {"None", "NoneOnDryRun"});
  }
  const std::int32_t timeout = webhook.timeoutSeconds.value_or(10);
  if (timeout < 1 || timeout > 30) {
    at("timeoutSeconds").invalid(timeout, "the timeout value must be between 1 and 30 seconds");
  }
  if (webhook.namespaceSelector) {
    checkSelector(*webhook.namespaceSelector, at("namespaceSelector"));
  }
  if (webhook.objectSelector) checkSelector(*webhook.objectSelector, at("objectSelector"));
  checkClient(*webhook.clientConfig, at("clientConfig"));
}

template <class Configuration>
void checkWebhooks(const Configuration& configuration, const Place& root) {
  Seen names;
  forEach(configuration.webhooks, root("webhooks"), [&](const auto& webhook, const Place& at) {
    checkWebhook(webhook, at);
    checkReviewVersions(webhook.admissionReviewVersions, at("admissionReviewVersions"));
    if (!webhook.name.empty() && !names.insert(webhook.name)) at("name").duplicate(webhook.name);
  });
}

}  // namespace

void validate(const admissionregistrationv1::MutatingWebhookConfiguration& configuration,
              const Place& at) {
  checkWebhooks(configuration, at);
  forEach(configuration.webhooks, at("webhooks"), [](const auto& webhook, const Place& at) {
    at("reinvocationPolicy").oneOf(webhook.reinvocationPolicy, {"IfNeeded", "Never"});
  });
}

void validate(const admissionregistrationv1::ValidatingWebhookConfiguration& configuration,
              const Place& at) {
  checkWebhooks(configuration, at);
}

void validate(const apiregistrationv1::APIService& service, const Place& root) {
  const apiregistrationv1::APIServiceSpec& spec = *service.spec;
  const Place at = root("spec");
  const std::string name = spec.version + "." + spec.group;
  if (service.metadata.name != name) {
    root("metadata.name")
        .invalid(service.metadata.name,
                 fmt::format("must be `spec.version+\".\"+spec.group`: \"{}\"", name));
  }
  if (!spec.group.empty()) {
    at("group").text(spec.group, validation::isDNS1123Subdomain);
  } else if (spec.version != "v1") {
    at("group").required("only v1 may have an empty group and it better be legacy kube");
  }
  at("version").text(spec.version, validation::isDNS1035Label);
  if (spec.groupPriorityMinimum <= 0 || spec.groupPriorityMinimum > 20000) {
    at("groupPriorityMinimum")
        .invalid(spec.groupPriorityMinimum, "must be positive and less than 20000");
  }
  if (spec.versionPriority <= 0 || spec.versionPriority > 1000) {
    at("versionPriority").invalid(spec.versionPriority, "must be positive and less than 1000");
  }
  if (!spec.service) {
    if (!spec.caBundle.empty()) {
      at("caBundle")
          .invalid(fmt::format("{} bytes", spec.caBundle.size()),
                   "local APIServices may not have a caBundle");
    }
    if (spec.insecureSkipTLSVerify) {
      at("insecureSkipTLSVerify")
          .invalid(true, "local APIServices may not have insecureSkipTLSVerify");
    }
    return;
  }
  at("service.namespace").require(spec.service->namespace_);
  at("service.name").require(spec.service->name);
  if (spec.insecureSkipTLSVerify && !spec.caBundle.empty()) {
    at("insecureSkipTLSVerify").invalid(true, "may not be true if caBundle is present");
  }
}

}  // namespace kube::apiserver::rules
