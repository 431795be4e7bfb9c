#include "kube/apiserver/server/resource_verbs.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "kube/apiserver/custom/custom_resources.h"
#include "kube/meta/api_error.h"

namespace kube::apiserver {

namespace {

constexpr std::size_t kMaxBody = 3 << 20;

// A refusal that names no object.
metav1::Status plain(int code, std::string_view reason, std::string_view message) {
  metav1::Status status{.status = "Failure", .message = message, .reason = reason, .code = code};
  status.details = metav1::StatusDetails{};
  return status;
}

metav1::Status unknownResource() {
  return plain(404, "NotFound", "the server could not find the requested resource");
}

[[noreturn]] void refuseMethod() {
  throw ApiError(plain(405, "MethodNotAllowed",
                       "the server does not allow this method on the requested resource"));
}

// Throws ApiError if the resource does not have the verb of the request, or not in this place: on a
// subresource, across namespaces, or with a name.
void checkVerb(const testing::ApiRequest& request, const Target& target) {
  const std::string_view verb = request.verb;
  if (request.http.method == "HEAD") refuseMethod();
  if (!target.subresource.empty()) {
    const ServedSubresource* sub = target.version->subresource(target.subresource);
    if (sub == nullptr) throw ApiError(unknownResource());
    if (std::ranges::none_of(sub->verbs, [&](const String& one) { return one == verb; })) {
      refuseMethod();
    }
  } else if (!target.version->has(verb)) {
    refuseMethod();
  }
  if (target.resource->namespaced && target.namespace_.empty() && verb != "list" &&
      verb != "watch" && verb != "deletecollection" && target.resource->objects) {
    if (verb == "create") refuseMethod();
    throw ApiError(unknownResource());
  }
  const bool named = !target.name.empty();
  if (target.subresource.empty() &&
      ((verb == "create" && named) || ((verb == "update" || verb == "patch") && !named))) {
    refuseMethod();
  }
}

}  // namespace

Target ResourceVerbs::targetOf(const testing::ApiRequest& request) const {
  Target target;
  target.resource = store_.resources().find({request.resource.group, request.resource.resource});
  if (target.resource) target.version = target.resource->version(request.resource.version);
  if (target.version == nullptr) throw ApiError(unknownResource());
  if (target.resource->namespaced) {
    target.namespace_ = request.namespace_;
  } else if (!request.namespace_.empty() && target.resource->name.resource != "namespaces") {
    throw ApiError(unknownResource());
  }
  target.name = request.name;
  target.subresource = request.subresource;
  return target;
}

void ResourceVerbs::handle(const testing::ApiRequest& request, const testing::User& user,
                           Reply& reply) {
  VerbCall call{request, user, targetOf(request), reply};
  if (request.http.body.size() > kMaxBody) {
    throw ApiError(status::requestEntityTooLarge(fmt::format("limit is {}", kMaxBody)));
  }
  checkVerb(request, call.target);
  if (const auto& custom = call.target.version->custom; custom && custom->deprecated) {
    reply.warnings.push_back(custom->warning.str());
  }
  if (special(call)) return;
  using Verb = void (ResourceVerbs::*)(VerbCall&);
  static const std::map<std::string_view, Verb> kVerbs = {
      {"get", &ResourceVerbs::get},       {"list", &ResourceVerbs::list},
      {"watch", &ResourceVerbs::watch},   {"create", &ResourceVerbs::create},
      {"update", &ResourceVerbs::update}, {"patch", &ResourceVerbs::patch},
      {"delete", &ResourceVerbs::remove}, {"deletecollection", &ResourceVerbs::removeCollection}};
  const auto verb = kVerbs.find(request.verb);
  const bool createsPart = !call.target.subresource.empty() && request.verb == "create";
  if (verb == kVerbs.end() || createsPart) refuseMethod();
  (this->*verb->second)(call);
}

}  // namespace kube::apiserver
