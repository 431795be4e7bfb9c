// Operations of single resources: scales, evictions, bindings, tokens, and reviews, which are
// answered but not stored.
#include <fmt/core.h>

#include "kube/api/authentication/v1.h"
#include "kube/api/authorization/v1.h"
#include "kube/api/autoscaling/v1.h"
#include "kube/api/core/v1.h"
#include "kube/api/policy/v1.h"
#include "kube/apiserver/custom/custom_resources.h"
#include "kube/apiserver/custom/custom_scale.h"
#include "kube/apiserver/server/resource_verbs.h"
#include "kube/codec/patch/json_patch.h"
#include "kube/codec/patch/merge_patch.h"
#include "kube/codec/patch/patch.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"
#include "kube/meta/conditions.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::apiserver {

namespace {

// Decodes an object of any version, since the version makes no difference here.
template <Described T>
T decodeAs(const testing::ApiRequest& request) {
  try {
    const std::string& body = request.http.body;
    const DecodeOptions any{.checkKind = false};
    const bool binary = request.bodyFormat() == Format::Protobuf;
    const std::string said =
        binary ? std::string(openProtobuf(body).kind) : yamlDocument(body).type().kind;
    const std::string_view kind = TypeOf<T>::info.resource->kind;
    if (!said.empty() && said != kind) {
      throw ApiError(status::badRequest(fmt::format("{} cannot be handled as a {}", said, kind)));
    }
    return binary ? fromProtobuf<T>(body, any) : fromYaml<T>(body, any);
  } catch (const DecodeError& error) {
    throw ApiError(status::badRequest(error.what()));
  }
}

metav1::Status success() { return {.status = "Success", .code = 201}; }

bool dry(const testing::ApiRequest& request) { return request.param("dryRun") == "All"; }

}  // namespace

// --- Scales.

namespace {

const ScalePaths kBuiltInScale{".spec.replicas", ".status.replicas"};

const ScalePaths& scalePaths(const Target& target) {
  return target.version->custom ? *target.version->custom->scale : kBuiltInScale;
}

autoscalingv1::Scale scaleOf(const Target& target, const AnyObject& object) {
  const Value value = toValue(object);
  CustomScale read = readScale(value, scalePaths(target));
  if (!read.hasReplicas && target.resource->custom()) {
    throw ApiError(status::internalError(fmt::format(
        "the spec replicas field \"{}\" does not exist", scalePaths(target).specReplicas)));
  }
  autoscalingv1::Scale scale = std::move(read.scale);
  if (!target.resource->custom()) {
    // Built-in kinds have their selector in the spec: a LabelSelector or, for older kinds, a map.
    const Value& selector = value["spec"]["selector"];
    const bool whole = selector["matchLabels"].isObject() || selector["matchExpressions"].isArray();
    const auto labels = whole ? fromUnstructured<metav1::LabelSelector>(Unstructured(selector))
                              : metav1::LabelSelector{};
    scale.status->selector =
        whole ? labels::Selector::from(labels).str()
              : labels::Selector::fromSet(
                    nestedStringMap(value, {"spec", "selector"}).value_or(Map<String>{}))
                    .str();
  }
  const metav1::ObjectMeta meta = metaOf(object);
  scale.metadata.name = meta.name;
  scale.metadata.namespace_ = meta.namespace_;
  scale.metadata.uid = meta.uid;
  scale.metadata.resourceVersion = meta.resourceVersion;
  scale.metadata.creationTimestamp = meta.creationTimestamp;
  return scale;
}

}  // namespace

void ResourceVerbs::scale(VerbCall& call) {
  const Target& target = call.target;
  const testing::ApiRequest& request = call.request;
  if (request.verb == "get") {
    return call.reply.object(200, AnyObject(scaleOf(target, store_.get(target))));
  }
  const auto options = request.options<metav1::UpdateOptions>();
  const auto edit = [&](const AnyObject* current) {
    autoscalingv1::Scale wanted;
    const autoscalingv1::Scale now = scaleOf(target, *current);
    if (request.verb == "update") {
      wanted = decodeAs<autoscalingv1::Scale>(request);
    } else {
      const std::optional<PatchType> type = patchTypeOf(request.http.headers.get("Content-Type"));
      try {
        const Value before = toUnstructured(now).object;
        const Value patch = parseYaml(request.http.body);
        const Value after = type == PatchType::Json ? JsonPatch::fromValue(patch).apply(before)
                                                    : applyMergePatch(before, patch);
        wanted = fromUnstructured<autoscalingv1::Scale>(Unstructured(after));
      } catch (const ApiError&) {
        throw;
      } catch (const Error& error) {
        throw ApiError(status::badRequest(error.what()));
      }
    }
    checkName(wanted.metadata, target.name);
    if (wanted.spec->replicas < 0) {
      refuse(GroupKind{"autoscaling", "Scale"}, target.name,
             {FieldError::invalid(ErrorPath("spec").child("replicas"), wanted.spec->replicas,
                                  "must be greater than or equal to 0")});
    }
    return fromValue(target, writeScale(toValue(*current), wanted, scalePaths(target)));
  };
  const std::string_view agent = request.http.headers.get("User-Agent");
  const Updated done = store_.update(
      target, edit,
      {.manager = options.fieldManager.empty() ? String(agent.substr(0, agent.find('/')))
                                               : options.fieldManager,
       .dryRun = dry(request)});
  call.reply.object(200, AnyObject(scaleOf(target, done.object)));
}

// --- Pods.

namespace {

// Disruption budgets do not count pods that do not run.
bool isExpendable(const corev1::Pod& pod) {
  const String& phase = pod.status->phase;
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
         !pod.metadata.deletionTimestamp.isZero();
}

// The budget with one disruption less. Throws ApiError if it has none left.
AnyObject withDisruption(const AnyObject& current, const String& pod, Time now) {
  AnyObject next = current;
  auto& budget = *next.as<policyv1::PodDisruptionBudget>();
  const auto& status = *std::as_const(budget).status;
  const auto refused = [](int retryAfter, std::string_view why) {
    metav1::Status refusal = status::tooManyRequests(
        "Cannot evict pod as it would violate the pod's disruption budget.", retryAfter);
    refusal.details->causes.push_back({.reason = "DisruptionBudget", .message = why});
    throw ApiError(refusal);
  };
  if (status.observedGeneration < budget.metadata.generation) {
    refused(10, fmt::format("The disruption budget {} is still being processed by the server.",
                            budget.metadata.name));
  }
  if (status.disruptionsAllowed <= 0) {
    refused(0, fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                           budget.metadata.name, status.desiredHealthy, status.currentHealthy));
  }
  --budget.status->disruptionsAllowed;
  budget.status->disruptedPods[pod] = now;
  return next;
}

}  // namespace

void ResourceVerbs::evict(VerbCall& call) {
  const auto eviction = decodeAs<policyv1::Eviction>(call.request);
  if (!eviction.metadata.name.empty() && eviction.metadata.name != call.target.name) {
    throw ApiError(status::badRequest("name in URL does not match name in Eviction object"));
  }
  const AnyObject pod = store_.get(call.target);
  const ResourcePtr budgets = store_.resources().find({"policy", "poddisruptionbudgets"});
  const Page page =
      store_.storage().list(*budgets->objects, {.prefix = call.target.namespace_.str() + "/"});
  const metav1::DeleteOptions options =
      eviction.deleteOptions ? *eviction.deleteOptions : metav1::DeleteOptions{};
  const bool dryRun = dry(call.request) || !options.dryRun.empty();
  std::vector<ObjectPtr> concerned;
  for (const ObjectPtr& one : page.objects) {
    const auto* budget = one->object().as<policyv1::PodDisruptionBudget>();
    if (budget != nullptr &&
        labels::Selector::from(budget->spec->selector).matches(metaOf(pod).labels)) {
      concerned.push_back(one);
    }
  }
  if (!concerned.empty() && !isExpendable(*pod.as<corev1::Pod>())) {
    if (concerned.size() > 1) {
      throw ApiError(
          status::internalError("This pod has more than one PodDisruptionBudget, which the "
                                "eviction subresource does not support."));
    }
    const Target budget{.resource = budgets,
                        .version = &budgets->stored(),
                        .namespace_ = call.target.namespace_,
                        .name = concerned.front()->meta().name,
                        .subresource = "status"};
    store_.update(budget,
                  [&](const AnyObject* current) {
                    return withDisruption(*current, call.target.name, store_.now());
                  },
                  {.manager = "kube-apiserver", .dryRun = dryRun});
  }
  Target target = call.target;
  target.subresource = {};
  store_.remove(target, options, {.dryRun = dryRun});
  call.reply.object(201, AnyObject(success()));
}

void ResourceVerbs::bind(VerbCall& call) {
  const auto binding = decodeAs<corev1::Binding>(call.request);
  if (binding.target->name.empty()) {
    throw ApiError({.status = "Failure", .message = "target.name: Required value", .code = 500});
  }
  Target target = call.target;
  if (target.name.empty()) target.name = binding.metadata.name;
  const ResourcePtr pods = store_.resources().find({"", "pods"});
  target.resource = pods;
  target.version = &pods->stored();
  target.subresource = "binding";
  store_.update(target,
                [&](const AnyObject* current) {
                  AnyObject next = *current;
                  auto& pod = *next.as<corev1::Pod>();
                  if (!std::as_const(pod).spec->nodeName.empty()) {
                    throw ApiError(status::conflict(
                        {"", "pods/binding"}, target.name,
                        fmt::format("pod {} is already assigned to node \"{}\"", target.name,
                                    std::as_const(pod).spec->nodeName)));
                  }
                  pod.spec->nodeName = binding.target->name;
                  corev1::PodCondition scheduled{.type = "PodScheduled", .status = "True"};
                  scheduled.lastTransitionTime = store_.now();
                  pod.status->conditions.push_back(scheduled);
                  return next;
                },
                {.manager = "kube-scheduler", .dryRun = dry(call.request)});
  call.reply.object(201, AnyObject(success()));
}

// --- Authentication and authorization.

void ResourceVerbs::token(VerbCall& call) {
  auto request = decodeAs<authenticationv1::TokenRequest>(call.request);
  const AnyObject account = store_.get(call.target);
  const metav1::ObjectMeta meta = metaOf(account);
  const std::string name = fmt::format("system:serviceaccount:{}:{}", meta.namespace_, meta.name);
  const std::string token = "kubexx." + newToken();
  const std::int64_t seconds = std::as_const(request).spec->expirationSeconds.value_or(3600);
  const auto refuseTime = [&](std::string_view why) {
    refuse(GroupKind{"authentication.k8s.io", "TokenRequest"}, "",
           {FieldError::invalid(ErrorPath("spec").child("expirationSeconds"), seconds, why)});
  };
  if (seconds < 600) refuseTime("may not specify a duration less than 10 minutes");
  if (seconds > std::int64_t{1} << 32) {
    refuseTime("may not specify a duration larger than 2^32 seconds");
  }
  request.spec->expirationSeconds = seconds;
  request.status->token = token;
  request.status->expirationTimestamp = store_.now() + std::chrono::seconds(seconds);
  if (!dry(call.request)) {
    access_.addToken(token, {.name = name,
                             .groups = {"system:serviceaccounts",
                                        fmt::format("system:serviceaccounts:{}", meta.namespace_)},
                             .uid = meta.uid.str()});
  }
  request.metadata.name = meta.name;
  request.metadata.namespace_ = meta.namespace_;
  request.metadata.creationTimestamp = store_.now();
  call.reply.object(201, AnyObject(request));
}

namespace {

authenticationv1::UserInfo userInfo(const testing::User& user) {
  authenticationv1::UserInfo info{.username = user.name, .uid = user.uid};
  for (const std::string& group : user.groups) info.groups.push_back(group);
  for (const auto& [key, values] : user.extra) {
    info.extra[key] = Strings(values.begin(), values.end());
  }
  return info;
}

testing::AccessQuestion questionOf(const authorizationv1::ResourceAttributes& attributes) {
  return {.verb = attributes.verb.str(),
          .group = attributes.group.str(),
          .resource = attributes.resource.str(),
          .subresource = attributes.subresource.str(),
          .namespace_ = attributes.namespace_.str(),
          .name = attributes.name.str()};
}

template <class Spec>
testing::AccessQuestion questionIn(const Spec& spec, const Target& target) {
  if (!spec.resourceAttributes == !spec.nonResourceAttributes) {
    refuse(target, "",
           {FieldError::invalid(
               ErrorPath("spec").child("resourceAttributes"), {},
               "exactly one of nonResourceAttributes or resourceAttributes must be specified")});
  }
  if (spec.resourceAttributes) return questionOf(*spec.resourceAttributes);
  return {.verb = spec.nonResourceAttributes->verb.str(),
          .path = spec.nonResourceAttributes->path.str()};
}

}  // namespace

void ResourceVerbs::review(VerbCall& call) {
  const std::string_view resource = call.target.resource->name.resource;
  const auto answer = [&](const auto& review) { call.reply.object(201, AnyObject(review)); };
  if (resource == "selfsubjectreviews") {
    auto review = decodeAs<authenticationv1::SelfSubjectReview>(call.request);
    review.metadata.creationTimestamp = store_.now();
    review.status->userInfo = userInfo(call.user);
    return answer(review);
  }
  if (resource == "tokenreviews") {
    auto review = decodeAs<authenticationv1::TokenReview>(call.request);
    const auto user = access_.tokenUser(std::as_const(review).spec->token);
    review.status->authenticated = user.has_value();
    if (user) {
      review.status->user = userInfo(*user);
    } else {
      review.status->error = "invalid bearer token";
    }
    return answer(review);
  }
  if (resource == "selfsubjectaccessreviews") {
    auto review = decodeAs<authorizationv1::SelfSubjectAccessReview>(call.request);
    review.status->allowed =
        access_.allows(call.user, questionIn(*std::as_const(review).spec, call.target));
    return answer(review);
  }
  if (resource == "selfsubjectrulesreviews") {
    auto review = decodeAs<authorizationv1::SelfSubjectRulesReview>(call.request);
    review.status->incomplete = true;
    return answer(review);
  }
  const auto subject = [&](auto review) {
    const auto& spec = *std::as_const(review).spec;
    testing::User user{.name = spec.user.str(), .groups = {}};
    for (const String& group : spec.groups) user.groups.push_back(group.str());
    review.status->allowed = access_.allows(user, questionIn(spec, call.target));
    return answer(review);
  };
  if (resource == "localsubjectaccessreviews") {
    return subject(decodeAs<authorizationv1::LocalSubjectAccessReview>(call.request));
  }
  return subject(decodeAs<authorizationv1::SubjectAccessReview>(call.request));
}

bool ResourceVerbs::special(VerbCall& call) {
  const Target& target = call.target;
  const std::string_view sub = target.subresource;
  const bool pods = target.resource->name == GroupResource{"", "pods"};
  if (!target.resource->objects) {
    target.resource->name.resource == "bindings" ? bind(call) : review(call);
  } else if (sub == "scale") {
    scale(call);
  } else if (pods && sub == "eviction") {
    evict(call);
  } else if (pods && sub == "binding") {
    bind(call);
  } else if (sub == "token") {
    token(call);
  } else {
    return podStreams_.answer(call);
  }
  return true;
}

}  // namespace kube::apiserver
