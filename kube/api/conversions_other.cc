// Kinds whose versions differ in names, or in the meaning of absent fields.
#include "kube/api/admissionregistration/v1.h"
#include "kube/api/admissionregistration/v1beta1.h"
#include "kube/api/apiextensions/v1.h"
#include "kube/api/apiextensions/v1beta1.h"
#include "kube/api/authorization/v1.h"
#include "kube/api/authorization/v1beta1.h"
#include "kube/api/certificates/v1.h"
#include "kube/api/certificates/v1beta1.h"
#include "kube/api/conversions.h"
#include "kube/api/core/v1.h"
#include "kube/api/discovery/v1.h"
#include "kube/api/discovery/v1alpha1.h"
#include "kube/api/discovery/v1beta1.h"
#include "kube/api/events/v1.h"
#include "kube/api/flowcontrol/v1.h"
#include "kube/api/flowcontrol/v1alpha1.h"
#include "kube/api/flowcontrol/v1beta1.h"
#include "kube/api/flowcontrol/v1beta2.h"
#include "kube/api/flowcontrol/v1beta3.h"
#include "kube/api/networking/v1.h"
#include "kube/api/networking/v1beta1.h"
#include "kube/api/node/v1.h"
#include "kube/api/node/v1alpha1.h"
#include "kube/api/policy/v1.h"
#include "kube/api/policy/v1beta1.h"
#include "kube/api/rbac/v1.h"
#include "kube/api/rbac/v1alpha1.h"
#include "kube/api/rbac/v1beta1.h"
#include "kube/base/error.h"
#include "kube/meta/scheme.h"

namespace kube::detail {

namespace {

// The defaults of a webhook, which differ between versions.
struct WebhookDefaults {
  std::string_view failurePolicy;
  std::string_view matchPolicy;
  std::int32_t timeoutSeconds;
};
constexpr WebhookDefaults kWebhookV1{"Fail", "Equivalent", 10};
constexpr WebhookDefaults kWebhookV1beta1{"Ignore", "Exact", 30};

template <class A, class B>
void addWebhookConversion(Scheme& scheme, const WebhookDefaults& defaults, bool isBeta) {
  scheme.addConversion<A, B>([defaults, isBeta](const A& in, B& out, ConversionScope& scope) {
    scope.defaultConvert(in, out);
    if (!in.failurePolicy) out.failurePolicy = defaults.failurePolicy;
    if (!in.matchPolicy) out.matchPolicy = defaults.matchPolicy;
    if (!in.timeoutSeconds) out.timeoutSeconds = defaults.timeoutSeconds;
    if (!isBeta) return;
    if (!in.sideEffects) out.sideEffects = "Unknown";
    if (in.admissionReviewVersions.empty()) out.admissionReviewVersions = {"v1beta1"};
  });
}

void addWebhooks(Scheme& scheme) {
  namespace v1 = admissionregistrationv1;
  namespace v1beta1 = admissionregistrationv1beta1;
  addWebhookConversion<v1beta1::ValidatingWebhook, v1::ValidatingWebhook>(scheme, kWebhookV1beta1,
                                                                          true);
  addWebhookConversion<v1beta1::MutatingWebhook, v1::MutatingWebhook>(scheme, kWebhookV1beta1,
                                                                      true);
  addWebhookConversion<v1::ValidatingWebhook, v1beta1::ValidatingWebhook>(scheme, kWebhookV1,
                                                                          false);
  addWebhookConversion<v1::MutatingWebhook, v1beta1::MutatingWebhook>(scheme, kWebhookV1, false);
}

// An empty selector selects nothing in v1beta1 and everything in v1. The other meaning is expressed
// by a selector with a label that no pod has.
metav1::LabelSelector byPlaceholder(std::string_view operator_) {
  metav1::LabelSelector selector;
  selector.matchExpressions = {
      {.key = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match", .operator_ = operator_}};
  return selector;
}

void addDisruptionBudgets(Scheme& scheme) {
  namespace v1 = policyv1;
  namespace v1beta1 = policyv1beta1;
  scheme.addConversion<v1beta1::PodDisruptionBudgetSpec, v1::PodDisruptionBudgetSpec>(
      [](const v1beta1::PodDisruptionBudgetSpec& in, v1::PodDisruptionBudgetSpec& out,
         ConversionScope& scope) {
        scope.defaultConvert(in, out);
        if (!in.selector) return;
        if (*in.selector == metav1::LabelSelector()) {
          out.selector = byPlaceholder("Exists");
        } else if (*in.selector == byPlaceholder("DoesNotExist")) {
          out.selector = metav1::LabelSelector();
        }
      });
  scheme.addConversion<v1::PodDisruptionBudgetSpec, v1beta1::PodDisruptionBudgetSpec>(
      [](const v1::PodDisruptionBudgetSpec& in, v1beta1::PodDisruptionBudgetSpec& out,
         ConversionScope& scope) {
        scope.defaultConvert(in, out);
        if (!in.selector) return;
        if (*in.selector == metav1::LabelSelector()) {
          out.selector = byPlaceholder("DoesNotExist");
        } else if (*in.selector == byPlaceholder("Exists")) {
          out.selector = metav1::LabelSelector();
        }
      });
}

void addIngresses(Scheme& scheme) {
  namespace v1 = networkingv1;
  namespace v1beta1 = networkingv1beta1;
  scheme.addConversion<v1beta1::IngressBackend, v1::IngressBackend>(
      [](const v1beta1::IngressBackend& in, v1::IngressBackend& out) {
        out.resource = in.resource;
        if (in.serviceName.empty() && in.servicePort == IntOrString()) return;
        out.service->name = in.serviceName;
        if (in.servicePort.isString()) {
          out.service->port->name = in.servicePort.stringValue();
        } else {
          out.service->port->number = static_cast<std::int32_t>(in.servicePort.intValue());
        }
      });
  scheme.addConversion<v1::IngressBackend, v1beta1::IngressBackend>(
      [](const v1::IngressBackend& in, v1beta1::IngressBackend& out) {
        out.resource = in.resource;
        if (!in.service) return;
        const v1::ServiceBackendPort& port = *in.service->port;
        if (!port.name.empty() && port.number != 0) {
          throw Error("a service's port has either a name or a number");
        }
        out.serviceName = in.service->name;
        out.servicePort = port.name.empty() ? IntOrString(port.number) : IntOrString(port.name);
      });
  scheme.addConversion<v1beta1::HTTPIngressPath, v1::HTTPIngressPath>(
      [](const v1beta1::HTTPIngressPath& in, v1::HTTPIngressPath& out, ConversionScope& scope) {
        scope.defaultConvert(in, out);
        if (!in.pathType) out.pathType = "ImplementationSpecific";  // required in v1
      });
  scheme.addConversion<v1beta1::IngressSpec, v1::IngressSpec>(
      [](const v1beta1::IngressSpec& in, v1::IngressSpec& out, ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"backend"}});
        scope.convert(in.backend, out.defaultBackend);
      });
  scheme.addConversion<v1::IngressSpec, v1beta1::IngressSpec>(
      [](const v1::IngressSpec& in, v1beta1::IngressSpec& out, ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"defaultBackend"}});
        scope.convert(in.defaultBackend, out.backend);
      });
}

constexpr std::string_view kZeroIsMeant =
    "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

// v1alpha1, v1beta1 and v1beta2 use another name for the shares, and cannot express 0.
template <class Old>
void addAssuredShares(Scheme& scheme) {
  using V1 = flowcontrolv1::LimitedPriorityLevelConfiguration;
  scheme.addConversion<Old, V1>([](const Old& in, V1& out, ConversionScope& scope) {
    scope.defaultConvert(in, out, {.handled = {"assuredConcurrencyShares"}});
    if (in.assuredConcurrencyShares != 0) {
      out.nominalConcurrencyShares = in.assuredConcurrencyShares;
    }
  });
  scheme.addConversion<V1, Old>([](const V1& in, Old& out, ConversionScope& scope) {
    scope.defaultConvert(in, out, {.handled = {"nominalConcurrencyShares"}});
    if (in.nominalConcurrencyShares == 0) {
      throw Error(
          "0 shares cannot be converted, because this version reads 0 as the default number");
    }
    out.assuredConcurrencyShares = in.nominalConcurrencyShares.value_or(0);
  });
}

// In v1beta3, 0 shares mean the default number, unless an annotation is set.
void addPriorityLevels(Scheme& scheme) {
  namespace v1 = flowcontrolv1;
  namespace v1beta3 = flowcontrolv1beta3;
  scheme.setHub({"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"}, "v1");
  addAssuredShares<flowcontrolv1alpha1::LimitedPriorityLevelConfiguration>(scheme);
  addAssuredShares<flowcontrolv1beta1::LimitedPriorityLevelConfiguration>(scheme);
  addAssuredShares<flowcontrolv1beta2::LimitedPriorityLevelConfiguration>(scheme);
  scheme.addConversion<v1beta3::PriorityLevelConfiguration, v1::PriorityLevelConfiguration>(
      [](const v1beta3::PriorityLevelConfiguration& in, v1::PriorityLevelConfiguration& out,
         ConversionScope& scope) {
        scope.defaultConvert(in, out);
        out.metadata.annotations.erase(kZeroIsMeant);
        const auto& limited = in.spec->limited;
        if (limited && limited->nominalConcurrencyShares == 0 &&
            !in.metadata.annotations.contains(kZeroIsMeant)) {
          out.spec->limited->nominalConcurrencyShares.reset();
        }
      });
  scheme.addConversion<v1::PriorityLevelConfiguration, v1beta3::PriorityLevelConfiguration>(
      [](const v1::PriorityLevelConfiguration& in, v1beta3::PriorityLevelConfiguration& out,
         ConversionScope& scope) {
        scope.defaultConvert(in, out);
        if (in.spec->limited->nominalConcurrencyShares == 0) {
          out.metadata.annotations[kZeroIsMeant] = "";
        }
      });
}

void addAccessReviews(Scheme& scheme) {
  using V1 = authorizationv1::SubjectAccessReviewSpec;
  using V1beta1 = authorizationv1beta1::SubjectAccessReviewSpec;
  scheme.addConversion<V1beta1, V1>([](const V1beta1& in, V1& out, ConversionScope& scope) {
    scope.defaultConvert(in, out, {.handled = {"group"}});
    out.groups = in.group;
  });
  scheme.addConversion<V1, V1beta1>([](const V1& in, V1beta1& out, ConversionScope& scope) {
    scope.defaultConvert(in, out, {.handled = {"groups"}});
    out.group = in.groups;
  });
}

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

// v1alpha1 has a subject's apiVersion where other versions have its group, and a user "*" for all
// users.
template <class Alpha, class Other>
void addSubjects(Scheme& scheme) {
  scheme.addConversion<Alpha, Other>([](const Alpha& in, Other& out) {
    out = {.kind = in.kind, .name = in.name, .namespace_ = in.namespace_};
    if (in.kind == "User" || in.kind == "Group") {
      out.apiGroup = kRbac;
    } else if (in.kind != "ServiceAccount") {
      out.apiGroup = GroupVersion::tryParse(in.apiVersion).value_or(GroupVersion{}).group;
    }
    if (in.kind == "User" && in.name == "*") {
      out.kind = "Group";
      out.name = "system:authenticated";
    }
  });
  scheme.addConversion<Other, Alpha>([](const Other& in, Alpha& out) {
    out = {.kind = in.kind, .name = in.name, .namespace_ = in.namespace_};
    const bool isRbac = in.apiGroup.empty() || in.apiGroup == kRbac;
    if (in.kind == "ServiceAccount" && in.apiGroup.empty()) {
      out.apiVersion = "v1";
    } else if ((in.kind == "User" || in.kind == "Group") && isRbac) {
      out.apiVersion = kRbac + String("/v1alpha1");
    } else {
      out.apiVersion = GroupVersion{in.apiGroup, ""}.str();
    }
  });
}

// v1 has no defaults for these fields.
void addSigningRequests(Scheme& scheme) {
  namespace v1 = certificatesv1;
  namespace v1beta1 = certificatesv1beta1;
  scheme.addConversion<v1beta1::CertificateSigningRequestSpec, v1::CertificateSigningRequestSpec>(
      [](const v1beta1::CertificateSigningRequestSpec& in, v1::CertificateSigningRequestSpec& out,
         ConversionScope& scope) {
        if (!in.signerName) throw Error("v1 needs a signerName, which v1beta1 may leave out");
        scope.defaultConvert(in, out);
        if (in.usages.empty()) out.usages = {"digital signature", "key encipherment"};
      });
  scheme.addConversion<v1beta1::CertificateSigningRequestCondition,
                       v1::CertificateSigningRequestCondition>(
      [](const v1beta1::CertificateSigningRequestCondition& in,
         v1::CertificateSigningRequestCondition& out, ConversionScope& scope) {
        scope.defaultConvert(in, out);
        if (in.status.empty()) out.status = "True";
      });
}

// Events of the core group and of events.k8s.io have the same fields under other names.
void addEvents(Scheme& scheme) {
  using Core = corev1::Event;
  using Event = eventsv1::Event;
  scheme.addConversion<Core, Event>([](const Core& in, Event& out, ConversionScope& scope) {
    scope.defaultConvert(in, out,
                         {.handled = {"involvedObject", "message", "source", "firstTimestamp",
                                      "lastTimestamp", "count", "reportingComponent"}});
    out.regarding = in.involvedObject;
    out.note = in.message;
    out.deprecatedSource = in.source;
    out.deprecatedFirstTimestamp = in.firstTimestamp;
    out.deprecatedLastTimestamp = in.lastTimestamp;
    out.deprecatedCount = in.count;
    out.reportingController = in.reportingComponent;
  });
  scheme.addConversion<Event, Core>([](const Event& in, Core& out, ConversionScope& scope) {
    scope.defaultConvert(
        in, out,
        {.handled = {"regarding", "note", "deprecatedSource", "deprecatedFirstTimestamp",
                     "deprecatedLastTimestamp", "deprecatedCount", "reportingController"}});
    out.involvedObject = in.regarding;
    out.message = in.note;
    out.source = in.deprecatedSource;
    out.firstTimestamp = in.deprecatedFirstTimestamp;
    out.lastTimestamp = in.deprecatedLastTimestamp;
    out.count = in.deprecatedCount;
    out.reportingComponent = in.reportingController;
  });
}

constexpr std::string_view kZone = "topology.kubernetes.io/zone";
constexpr std::string_view kHostname = "kubernetes.io/hostname";

// Before v1, an endpoint's zone was an entry of its topology. The node's name is there, too, and
// may differ from the field.
template <class Old>
void addEndpoints(Scheme& scheme) {
  scheme.addConversion<Old, discoveryv1::Endpoint>([](const Old& in, discoveryv1::Endpoint& out,
                                                      ConversionScope& scope) {
    scope.defaultConvert(in, out, {.handled = {"topology"}});
    Map<String> topology = in.topology;
    if (topology.contains(kZone)) out.zone = in.topology[kZone];
    topology.erase(kZone);
    if (out.nodeName && topology.contains(kHostname) && in.topology[kHostname] == *out.nodeName) {
      topology.erase(kHostname);
    }
    out.deprecatedTopology = topology;
  });
  scheme.addConversion<discoveryv1::Endpoint, Old>(
      [](const discoveryv1::Endpoint& in, Old& out, ConversionScope& scope) {
        scope.defaultConvert(in, out, {.handled = {"zone", "deprecatedTopology"}});
        out.topology = in.deprecatedTopology;
        if (in.zone) out.topology.insert_or_assign(kZone, *in.zone);
        if (in.nodeName && !in.deprecatedTopology.contains(kHostname)) {
          out.topology.insert_or_assign(kHostname, *in.nodeName);
        }
      });
}

// v1alpha1 has a spec, the other versions have not.
void addRuntimeClasses(Scheme& scheme) {
  namespace v1 = nodev1;
  namespace v1alpha1 = nodev1alpha1;
  scheme.setHub({"node.k8s.io", "RuntimeClass"}, "v1");
  scheme.addConversion<v1alpha1::RuntimeClass, v1::RuntimeClass>(
      [](const v1alpha1::RuntimeClass& in, v1::RuntimeClass& out, ConversionScope& scope) {
        out.metadata = in.metadata;
        out.handler = in.spec->runtimeHandler;
        scope.convert(in.spec->overhead, out.overhead);
        scope.convert(in.spec->scheduling, out.scheduling);
      });
  scheme.addConversion<v1::RuntimeClass, v1alpha1::RuntimeClass>(
      [](const v1::RuntimeClass& in, v1alpha1::RuntimeClass& out, ConversionScope& scope) {
        out.metadata = in.metadata;
        out.spec->runtimeHandler = in.handler;
        scope.convert(in.overhead, out.spec->overhead);
        scope.convert(in.scheduling, out.spec->scheduling);
      });
}

// The versions use equal names with different meanings: v1beta1 has a schema for all versions and
// keeps unknown fields, v1 has a schema for each version and drops unknown fields.
void refuseDefinitions(Scheme& scheme) {
  using V1 = apiextensionsv1::CustomResourceDefinition;
  using V1beta1 = apiextensionsv1beta1::CustomResourceDefinition;
  constexpr auto kRefuse = [](const auto&, auto&) {
    throw Error(
        "CustomResourceDefinitions are not converted, because v1 requires schemas and v1beta1 "
        "does not; let an API server convert them, or rewrite them");
  };
  scheme.addConversion<V1beta1, V1>(kRefuse);
  scheme.addConversion<V1, V1beta1>(kRefuse);
}

}  // namespace

void addOtherConversions(Scheme& scheme) {
  addWebhooks(scheme);
  addDisruptionBudgets(scheme);
  addIngresses(scheme);
  addPriorityLevels(scheme);
  addAccessReviews(scheme);
  addSubjects<rbacv1alpha1::Subject, rbacv1::Subject>(scheme);
  addSubjects<rbacv1alpha1::Subject, rbacv1beta1::Subject>(scheme);
  addSigningRequests(scheme);
  addEvents(scheme);
  scheme.setHub({"discovery.k8s.io", "EndpointSlice"}, "v1");
  addEndpoints<discoveryv1alpha1::Endpoint>(scheme);
  addEndpoints<discoveryv1beta1::Endpoint>(scheme);
  addRuntimeClasses(scheme);
  refuseDefinitions(scheme);
}

}  // namespace kube::detail
