#include "kube/apiserver/server/resource_verbs.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "kube/apiserver/custom/custom_resources.h"
#include "kube/apiserver/server/verb_call.h"
#include "kube/apiserver/storage/kind_rules.h"
#include "kube/base/joined.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/internal/json_document.h"
#include "kube/codec/patch/json_patch.h"
#include "kube/codec/patch/merge_patch.h"
#include "kube/codec/patch/patch.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/patch/strategic_merge.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"

namespace kube::apiserver {

namespace {

constexpr std::size_t kMaxBody = 3 << 20;
constexpr std::size_t kMaxPatchOperations = 10'000;

// What an answer says that no particular object is to blame for.
metav1::Status plain(int code, std::string_view reason, std::string_view message) {
  metav1::Status status{.status = "Failure", .message = message, .reason = reason, .code = code};
  status.details = metav1::StatusDetails{};
  return status;
}

metav1::Status unknownResource() {
  return plain(404, "NotFound", "the server could not find the requested resource");
}

const GroupKind kDeleteOptions{"meta.k8s.io", "DeleteOptions"};

// What is wrong with a request's options is told as if they were an object.
GroupKind optionsKind(const TypeInfo& options) { return {"meta.k8s.io", options.resource->kind}; }

bool isDry(const List<String>& dryRun, const GroupKind& options) {
  for (const String& one : dryRun) {
    if (one != "All") {
      refuse(options, "", {FieldError::notSupported(ErrorPath("dryRun"), one.view(), {"All"})});
    }
  }
  return !dryRun.empty();
}

// Who writes, as the request's options or its User-Agent say.
String managerOf(const testing::ApiRequest& request, const String& fieldManager) {
  if (!fieldManager.empty()) return fieldManager;
  const std::string_view agent = request.http.headers.get("User-Agent");
  const std::string_view name = agent.substr(0, agent.find('/'));
  return name.empty() ? "unknown" : name.substr(0, validation::kFieldManagerMaxLength);
}

template <class Options>
WriteOptions writeOptions(const testing::ApiRequest& request, const Options& options) {
  const GroupKind kind = optionsKind(TypeOf<Options>::info);
  refuse(kind, "",
         validation::validateFieldManager(options.fieldManager, ErrorPath("fieldManager")));
  const std::string_view mode = options.fieldValidation;
  if (!mode.empty() && mode != "Strict" && mode != "Warn" && mode != "Ignore") {
    refuse(kind, "",
           {FieldError::notSupported(ErrorPath("fieldValidation"), mode,
                                     {"Ignore", "Strict", "Warn", ""})});
  }
  return {.manager = managerOf(request, options.fieldManager),
          .dryRun = isDry(options.dryRun, kind)};
}

}  // namespace

// --- Writing.

AnyObject ResourceVerbs::decodeBody(VerbCall& call, const Target& target,
                                    std::string_view mode) const {
  const ApiResource& resource = *target.resource;
  const ApiVersion& version = *target.version;
  const std::string& body = call.request.http.body;
  const Format format = call.request.bodyFormat();
  const GroupVersionKind expected = resource.kindIn(version);
  const auto fail = [&](std::string_view why) {
    throw ApiError(
        status::badRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                                       expected.kind, expected.version, expected.kind, why)));
  };
  const bool binary = format == Format::Protobuf;
  AnyObject object(*version.type);
  std::vector<std::string> problems;
  try {
    if (binary && resource.custom()) {
      throw ApiError(status::unsupportedMediaType(
          "the body of the request was in an unknown format - accepted media types include: "
          "application/json, application/yaml"));
    }
    // What it says that it is comes first: no other error makes sense before.
    GroupVersionKind said = expected;
    std::optional<YamlDocument> document;
    std::optional<JsonDocument> text;
    if (binary) {
      const ProtobufEnvelope envelope = openProtobuf(body);
      const GroupVersion parsed = GroupVersion::parse(envelope.apiVersion);
      said = {parsed.group, parsed.version, envelope.kind};
    } else {
      if (format == Format::Yaml) {
        document = yamlDocument(body);
      } else {
        text.emplace(body);
      }
      const TypeMeta type = document ? document->type() : text->type();
      const GroupVersion parsed = GroupVersion::parse(type.apiVersion);
      said = {parsed.group, parsed.version, type.kind};
      if (said.kind.empty() && type.apiVersion.empty() && !resource.custom()) said = expected;
    }
    if (said != expected) {
      if (text) peekTypeMeta(body);  // malformed text says nothing
      if (said.groupVersion() != expected.groupVersion()) {
        throw ApiError(status::badRequest(fmt::format(
            "the API version in the data ({}) does not match the expected API version ({})",
            said.groupVersion().str(), expected.groupVersion().str())));
      }
      throw ApiError(status::badRequest(fmt::format(
          "{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is expected here",
          said.kind, said.version, expected.kind, said.kind)));
    }
    resource.objects->decode([&](Pool& pool) {
      DecodeOptions options{.pool = &pool, .checkKind = false};
      if (!binary && mode != "Ignore") options.problems = &problems;
      if (binary) {
        decodeProtobuf(object.type(), object.data(), body, options);
      } else if (document) {
        document->decode(object.type(), object.data(), options);
      } else {
        text->decode(object.type(), object.data(), options);
      }
      return 0;
    });
  } catch (const DecodeError& error) {
    fail(error.what());
  }
  if (resource.custom()) {
    std::vector<std::string> unknown;
    try {
      metaOf(object);  // malformed metadata is refused here, not later
    } catch (const DecodeError& error) {
      fail(error.what());
    }
    KindRules(resource, version).prune(object, unknown);
    if (mode != "Ignore") problems.insert(problems.end(), unknown.begin(), unknown.end());
  }
  if (problems.empty()) return object;
  if (mode == "Strict") {
    fail(fmt::format("strict decoding error: {}", joined(problems, ", ")));
  }
  for (std::string& problem : problems) call.reply.warnings.push_back(std::move(problem));
  return object;
}

void ResourceVerbs::create(VerbCall& call) {
  const auto options = call.request.options<metav1::CreateOptions>();
  const ObjectForms forms(ObjectForms::Of::Object, call.request, call.target.resource,
                          *call.target.version, store_.clock());
  const WriteOptions write = writeOptions(call.request, options);
  AnyObject object = decodeBody(call, call.target, options.fieldValidation);
  const AnyObject made = store_.create(call.target, std::move(object), write);
  call.reply.body(201, std::string(forms.form().mediaType()), forms.object(made));
}

void ResourceVerbs::update(VerbCall& call) {
  const auto options = call.request.options<metav1::UpdateOptions>();
  const ObjectForms forms(ObjectForms::Of::Object, call.request, call.target.resource,
                          *call.target.version, store_.clock());
  WriteOptions write = writeOptions(call.request, options);
  const AnyObject object = decodeBody(call, call.target, options.fieldValidation);
  write.mayCreate = call.target.subresource.empty() &&
                    KindRules(*call.target.resource, *call.target.version).allowsCreateOnUpdate();
  const String uid = metaOf(object).uid;
  const Updated done = store_.update(
      call.target,
      [&](const AnyObject* current) {
        if (current != nullptr && !uid.empty()) checkUid(call.target, uid, metaOf(*current).uid);
        return object;
      },
      write);
  call.reply.body(done.created ? 201 : 200, std::string(forms.form().mediaType()),
                  forms.object(done.object));
}

Value ResourceVerbs::applied(VerbCall& call, const AnyObject* current,
                             const metav1::PatchOptions& options, const Value& config,
                             const WriteOptions& write) const {
  const Target& target = call.target;
  ApplyResult result = applyPatch(current == nullptr ? Value() : toValue(*current), config,
                                  KindRules(*target.resource, *target.version).schema(),
                                  store_.manager(target, write), options.force.value_or(false));
  if (result.conflicts.empty()) return std::move(result.object);
  List<metav1::StatusCause> causes;
  for (const ApplyConflict& conflict : result.conflicts) {
    causes.push_back({.reason = "FieldManagerConflict",
                      .message = "conflict with " + conflict.describeManager(),
                      .field = toString(conflict.path)});
  }
  throw ApiError(status::applyConflict(std::move(causes), result.conflictMessage()));
}

namespace {

void checkApplied(const Target& target, const Value& config) {
  if (!target.resource->custom()) return;  // applyPatch() knows
  if (config["kind"].asString() == target.resource->kind) return;
  throw ApiError(status::badRequest(fmt::format(
      "invalid object type: {}, Kind={}; expected Kind={}", config["apiVersion"].asString(),
      config["kind"].asString(), target.resource->kind)));
}

// What a patch has made of an object. Unless that is strict, unknown fields are left for a warning.
AnyObject patched(const Target& target, const Value& next, std::string_view mode,
                  std::vector<std::string>& problems) {
  const auto invalid = [&](std::string_view why) {
    refuse(GroupKind{}, "", {FieldError::invalid(ErrorPath("patch"), toJson(next), why)});
  };
  problems.clear();
  std::optional<AnyObject> object;
  try {
    object = fromValue(target, next, mode == "Ignore" ? nullptr : &problems);
  } catch (const ApiError& error) {
    invalid(error.message());
  }
  if (mode == "Strict" && !problems.empty()) {
    invalid(fmt::format("strict decoding error: {}", joined(problems, ", ")));
  }
  return std::move(*object);
}

}  // namespace

void ResourceVerbs::patch(VerbCall& call) {
  const auto options = call.request.options<metav1::PatchOptions>();
  const Target& target = call.target;
  const std::string_view contentType = call.request.http.headers.get("Content-Type");
  const std::optional<PatchType> type = patchTypeOf(contentType);
  if (!type || (*type == PatchType::StrategicMerge && target.resource->custom())) {
    throw ApiError(status::unsupportedMediaType(fmt::format(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, {}application/apply-patch+yaml",
        target.resource->custom() ? "" : "application/strategic-merge-patch+json, ")));
  }
  const ObjectForms forms(ObjectForms::Of::Object, call.request, target.resource, *target.version,
                          store_.clock());
  WriteOptions write = writeOptions(call.request, options);
  const GroupKind optionsName = optionsKind(TypeOf<metav1::PatchOptions>::info);
  const bool applies = *type == PatchType::Apply;
  if (applies && options.fieldManager.empty()) {
    refuse(optionsName, "",
           {FieldError::required(ErrorPath("fieldManager"), "is required for apply patch")});
  }
  if (!applies && options.force) {
    refuse(optionsName, "",
           {FieldError::forbidden(ErrorPath("force"), "may not be specified for non-apply patch")});
  }
  write.applies = applies;
  write.mayCreate = applies && target.subresource.empty();
  const std::string& body = call.request.http.body;
  Updated done{AnyObject(*target.version->type)};
  std::vector<std::string> problems;
  try {
    const Value patch = applies ? parseYaml(body) : parseJson(body);
    if (!patch.isObject() && *type != PatchType::Json) {
      throw ApiError(status::badRequest("error decoding patch: it is no object"));
    }
    if (applies) checkApplied(target, patch);
    if (patch.isArray() && patch.asArray().size() > kMaxPatchOperations) {
      throw ApiError(status::requestEntityTooLarge(
          fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                      kMaxPatchOperations, patch.asArray().size())));
    }
    JsonPatch operations;
    if (*type == PatchType::Json) operations = JsonPatch::fromValue(patch);
    done = store_.update(
        target,
        [&](const AnyObject* current) {
          Value next;
          switch (*type) {
            case PatchType::Json:
              next = operations.apply(toValue(*current));
              break;
            case PatchType::Merge:
              next = applyMergePatch(toValue(*current), patch);
              break;
            case PatchType::StrategicMerge:
              next = applyStrategicMergePatch(toValue(*current), patch, *target.version->type);
              break;
            case PatchType::Apply:
              next = applied(call, current, options, patch, write);
              break;
          }
          return patched(target, next, options.fieldValidation, problems);
        },
        write);
  } catch (const DecodeError& error) {
    throw ApiError(status::badRequest(fmt::format("error decoding patch: {}", error.what())));
  } catch (const PatchError& error) {
    // A patch that is well-formed but does not fit.
    metav1::Status refusal =
        status::invalid({target.resource->name.group, target.resource->kind}, target.name, {});
    if (*type != PatchType::Json) refusal = status::badRequest(error.what());
    refusal.message = error.what();
    // What does not fit the schema is an error of the server to kube-apiserver.
    const std::string_view what = error.what();
    if (applies && (what.starts_with('.') || what.starts_with("errors:"))) {
      refusal = {
          .status = "Failure",
          .message = fmt::format("failed to create typed patch object ({}; {}): {}", target.key(),
                                 target.resource->kindIn(*target.version).str(), what),
          .code = 500};
    }
    throw ApiError(refusal);
  }
  for (std::string& problem : problems) call.reply.warnings.push_back(std::move(problem));
  call.reply.body(done.created ? 201 : 200, std::string(forms.form().mediaType()),
                  forms.object(done.object));
}

namespace {

// From the body, or else from the query.
metav1::DeleteOptions deleteOptions(const testing::ApiRequest& request) {
  if (request.http.body.empty()) return request.options<metav1::DeleteOptions>();
  try {
    // Of any group and version: clients take that of the resource.
    const DecodeOptions any{.checkKind = false};
    const bool binary = request.bodyFormat() == Format::Protobuf;
    const std::string kind = binary ? std::string(openProtobuf(request.http.body).kind)
                                    : yamlDocument(request.http.body).type().kind;
    if (!kind.empty() && kind != "DeleteOptions") {
      throw ApiError(status::badRequest(
          fmt::format("the body of a deletion is a DeleteOptions, not a {}", kind)));
    }
    return binary ? fromProtobuf<metav1::DeleteOptions>(request.http.body, any)
                  : fromYaml<metav1::DeleteOptions>(request.http.body, any);
  } catch (const DecodeError& error) {
    throw ApiError(status::badRequest(error.what()));
  }
}

}  // namespace

namespace {

// As kube-apiserver: some show what was deleted, the others say that it was.
bool answersWithObject(const GroupResource& resource) {
  static const std::set<GroupResource> kThose = {{"", "persistentvolumeclaims"},
                                                 {"", "persistentvolumes"},
                                                 {"", "pods"},
                                                 {"", "podtemplates"},
                                                 {"", "resourcequotas"},
                                                 {"", "serviceaccounts"},
                                                 {"", "services"},
                                                 {"storage.k8s.io", "csidrivers"},
                                                 {"storage.k8s.io", "csinodes"},
                                                 {"storage.k8s.io", "storageclasses"},
                                                 {"storage.k8s.io", "volumeattachments"}};
  return kThose.contains(resource);
}

}  // namespace

void ResourceVerbs::remove(VerbCall& call) {
  const metav1::DeleteOptions options = deleteOptions(call.request);
  const ObjectForms forms(ObjectForms::Of::Object, call.request, call.target.resource,
                          *call.target.version, store_.clock());
  const Removed removed =
      store_.remove(call.target, options, {.dryRun = isDry(options.dryRun, kDeleteOptions)});
  if (!removed.gone || answersWithObject(call.target.resource->name)) {
    return call.reply.body(200, std::string(forms.form().mediaType()),
                           forms.object(removed.object));
  }
  const metav1::ObjectMeta meta = metaOf(removed.object);
  metav1::Status done{.status = "Success"};
  done.details->name = meta.name;
  done.details->group = call.target.resource->name.group;
  done.details->kind = call.target.resource->name.resource;
  done.details->uid = meta.uid;
  call.reply.object(200, AnyObject(done));
}

void ResourceVerbs::removeCollection(VerbCall& call) {
  const metav1::DeleteOptions options = deleteOptions(call.request);
  const auto which = call.request.options<metav1::ListOptions>();
  const ObjectForms forms(ObjectForms::Of::List, call.request, call.target.resource,
                          *call.target.version, store_.clock());
  const ObjectFilter filter = filterOf(call, which);
  const bool dry = isDry(options.dryRun, kDeleteOptions);
  Page page = store_.storage().list(
      *call.target.resource->objects,
      {.prefix = filter.prefix,
       .limit = static_cast<std::size_t>(std::max<std::int64_t>(which.limit, 0)),
       .matches = filter.matches});
  for (const ObjectPtr& one : page.objects) {
    Target target = call.target;
    target.namespace_ = one->meta().namespace_;
    target.name = one->meta().name;
    try {
      store_.remove(target, options, {.dryRun = dry});
    } catch (const ApiError& error) {
      if (!isNotFound(error)) throw;
    }
  }
  const metav1::ListMeta meta{.resourceVersion = std::to_string(page.revision)};
  call.reply.stream(200, std::string(forms.form().mediaType()), forms.list(std::move(page), meta));
}

// --- Which of them.

Target ResourceVerbs::targetOf(const testing::ApiRequest& request) const {
  Target target;
  target.resource = store_.resources().find({request.resource.group, request.resource.resource});
  if (target.resource) target.version = target.resource->version(request.resource.version);
  if (target.version == nullptr) {
    throw ApiError(unknownResource());
  }
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
  const Target& target = call.target;
  if (request.http.body.size() > kMaxBody) {
    throw ApiError(status::requestEntityTooLarge(fmt::format("limit is {}", kMaxBody)));
  }
  const auto unsupported = [&] {
    throw ApiError(plain(405, "MethodNotAllowed",
                         "the server does not allow this method on the requested resource"));
  };
  if (request.http.method == "HEAD") unsupported();
  if (!target.subresource.empty()) {
    const ServedSubresource* sub = target.version->subresource(target.subresource);
    if (sub == nullptr) {
      throw ApiError(unknownResource());
    }
    if (std::ranges::none_of(sub->verbs,
                             [&](const String& verb) { return verb == request.verb; })) {
      unsupported();
    }
  } else if (!target.version->has(request.verb)) {
    unsupported();
  }
  if (target.resource->namespaced && target.namespace_.empty() && request.verb != "list" &&
      request.verb != "watch" && request.verb != "deletecollection" && target.resource->objects) {
    if (request.verb == "create") unsupported();
    throw ApiError(unknownResource());
  }
  const bool named = !target.name.empty();
  if (target.subresource.empty() &&
      ((request.verb == "create" && named) ||
       ((request.verb == "update" || request.verb == "patch") && !named))) {
    unsupported();
  }
  if (const auto& custom = target.version->custom; custom && custom->deprecated) {
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
  if (verb == kVerbs.end() || (!target.subresource.empty() && request.verb == "create")) {
    return unsupported();
  }
  (this->*verb->second)(call);
}

}  // namespace kube::apiserver
