// The verbs that change objects: create, update, patch, delete and deletecollection.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "kube/apiserver/server/resource_verbs.h"
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

constexpr std::size_t kMaxPatchOperations = 10'000;

const GroupKind kDeleteOptions{"meta.k8s.io", "DeleteOptions"};

// The kind by which a refusal names the options of a request.
GroupKind optionsKind(const TypeInfo& options) { return {"meta.k8s.io", options.resource->kind}; }

bool isDry(const List<String>& dryRun, const GroupKind& options) {
  for (const String& value : dryRun) {
    if (value != "All") {
      refuse(options, "", {FieldError::notSupported(ErrorPath("dryRun"), value.view(), {"All"})});
    }
  }
  return !dryRun.empty();
}

// The field manager: from the options, else from the User-Agent.
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

void addWarnings(Reply& reply, std::vector<std::string> warnings) {
  for (std::string& warning : warnings) reply.warnings.push_back(std::move(warning));
}

}  // namespace

// --- Bodies.

namespace {

// An object in a request's body: its kind is read first, since no other error makes sense before.
class ObjectBody {
 public:
  /// Throws DecodeError for text that is not in the format.
  ObjectBody(std::string_view text, Format format) : text_(text) {
    if (format == Format::Protobuf) {
      const ProtobufEnvelope envelope = openProtobuf(text);
      setKind(envelope.apiVersion, envelope.kind);
      return;
    }
    if (format == Format::Yaml) {
      yaml_ = yamlDocument(text);
    } else {
      json_.emplace(text);
    }
    const TypeMeta type = yaml_ ? yaml_->type() : json_->type();
    setKind(type.apiVersion, type.kind);
    unnamed_ = type.kind.empty() && type.apiVersion.empty();
  }

  /// Throws ApiError, or DecodeError for malformed text, if this is an object of another kind. The
  /// kind may be left out of an object of a built-in one, unless it is protobuf.
  void expect(const GroupVersionKind& expected, bool custom) const {
    if (kind_ == expected || (unnamed_ && !custom)) return;
    if (json_) peekTypeMeta(text_);  // throws for malformed text, whose kind is not known
    if (kind_.groupVersion() != expected.groupVersion()) {
      throw ApiError(status::badRequest(fmt::format(
          "the API version in the data ({}) does not match the expected API version ({})",
          kind_.groupVersion().str(), expected.groupVersion().str())));
    }
    throw ApiError(status::badRequest(fmt::format(
        "{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is expected here",
        kind_.kind, kind_.version, expected.kind, kind_.kind)));
  }

  void decode(AnyObject& object, const DecodeOptions& options) const {
    if (yaml_) return yaml_->decode(object.type(), object.data(), options);
    if (json_) return json_->decode(object.type(), object.data(), options);
    decodeProtobuf(object.type(), object.data(), text_, options);
  }

 private:
  void setKind(std::string_view apiVersion, std::string_view kind) {
    const GroupVersion version = GroupVersion::parse(apiVersion);
    kind_ = {version.group, version.version, kind};
  }

  const std::string_view text_;
  std::optional<YamlDocument> yaml_;  // neither: protobuf
  std::optional<JsonDocument> json_;
  GroupVersionKind kind_;
  bool unnamed_ = false;
};

// The object in a request's body. `mode` is the fieldValidation of the request.
AnyObject decodeBody(VerbCall& call, std::string_view mode) {
  const ApiResource& resource = *call.target.resource;
  const ApiVersion& version = *call.target.version;
  const Format format = call.request.bodyFormat();
  const bool binary = format == Format::Protobuf;
  if (binary && resource.custom()) {
    throw ApiError(status::unsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml"));
  }
  AnyObject object(*version.type);
  std::vector<std::string> problems;
  try {
    const ObjectBody body(call.request.http.body, format);
    body.expect(resource.kindIn(version), resource.custom());
    resource.objects->decode([&](Pool& pool) {
      body.decode(object, {.pool = &pool,
                           .checkKind = false,
                           .problems = binary || mode == "Ignore" ? nullptr : &problems});
    });
    if (resource.custom()) metaOf(object);  // throws for malformed metadata
  } catch (const DecodeError& error) {
    throw unfit(call.target, error.what());
  }
  std::vector<std::string> unknown;
  version.rules().prune(object, unknown);
  if (mode != "Ignore") std::ranges::move(unknown, std::back_inserter(problems));
  if (mode == "Strict" && !problems.empty()) {
    throw unfit(call.target, fmt::format("strict decoding error: {}", joined(problems, ", ")));
  }
  addWarnings(call.reply, std::move(problems));
  return object;
}

}  // namespace

// --- Create and update.

void ResourceVerbs::create(VerbCall& call) {
  const auto options = call.request.options<metav1::CreateOptions>();
  const ObjectForms forms(ObjectForms::Of::Object, call.request, call.target.resource,
                          *call.target.version, store_.clock());
  const WriteOptions write = writeOptions(call.request, options);
  AnyObject object = decodeBody(call, options.fieldValidation);
  const AnyObject made = store_.create(call.target, std::move(object), write);
  call.reply.body(201, std::string(forms.form().mediaType()), forms.object(made));
}

void ResourceVerbs::update(VerbCall& call) {
  const auto options = call.request.options<metav1::UpdateOptions>();
  const ObjectForms forms(ObjectForms::Of::Object, call.request, call.target.resource,
                          *call.target.version, store_.clock());
  WriteOptions write = writeOptions(call.request, options);
  const AnyObject object = decodeBody(call, options.fieldValidation);
  write.mayCreate =
      call.target.subresource.empty() && call.target.version->rules().allowsCreateOnUpdate();
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

// --- Patches.

namespace {

PatchType patchTypeOf(const VerbCall& call) {
  const bool custom = call.target.resource->custom();
  const auto type = kube::patchTypeOf(call.request.http.headers.get("Content-Type"));
  if (type && !(custom && *type == PatchType::StrategicMerge)) return *type;
  throw ApiError(status::unsupportedMediaType(fmt::format(
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, {}application/apply-patch+yaml",
      custom ? "" : "application/strategic-merge-patch+json, ")));
}

void checkPatchOptions(const metav1::PatchOptions& options, PatchType type) {
  const GroupKind kind = optionsKind(TypeOf<metav1::PatchOptions>::info);
  if (type == PatchType::Apply && options.fieldManager.empty()) {
    refuse(kind, "",
           {FieldError::required(ErrorPath("fieldManager"), "is required for apply patch")});
  }
  if (type != PatchType::Apply && options.force) {
    refuse(kind, "",
           {FieldError::forbidden(ErrorPath("force"), "may not be specified for non-apply patch")});
  }
}

void checkApplied(const Target& target, const Value& config) {
  if (!target.resource->custom()) return;  // applyPatch() checks built-in kinds
  if (config["kind"].asString() == target.resource->kind) return;
  throw ApiError(status::badRequest(fmt::format(
      "invalid object type: {}, Kind={}; expected Kind={}", config["apiVersion"].asString(),
      config["kind"].asString(), target.resource->kind)));
}

// A patch of any type: read once, then applied to the object as often as an update is retried.
class Patch {
 public:
  /// Throws DecodeError or PatchError for a malformed patch, ApiError for other refusals.
  Patch(const Target& target, PatchType type, std::string_view body, FieldManager manager,
        bool force)
      : target_(target),
        type_(type),
        manager_(std::move(manager)),
        force_(force),
        patch_(type == PatchType::Apply ? parseYaml(body) : parseJson(body)) {
    if (!patch_.isObject() && type != PatchType::Json) {
      throw ApiError(status::badRequest("error decoding patch: it is not an object"));
    }
    if (type == PatchType::Apply) checkApplied(target, patch_);
    if (patch_.isArray() && patch_.asArray().size() > kMaxPatchOperations) {
      throw ApiError(status::requestEntityTooLarge(
          fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                      kMaxPatchOperations, patch_.asArray().size())));
    }
    if (type == PatchType::Json) operations_ = JsonPatch::fromValue(patch_);
  }

  /// The next state of the object. `current` may be null for server-side apply only.
  Value apply(const AnyObject* current) const {
    switch (type_) {
      case PatchType::Json:
        return operations_.apply(toValue(*current));
      case PatchType::Merge:
        return applyMergePatch(toValue(*current), patch_);
      case PatchType::StrategicMerge:
        return applyStrategicMergePatch(toValue(*current), patch_, *target_.version->type);
      case PatchType::Apply:
        break;
    }
    return applyConfiguration(current == nullptr ? Value() : toValue(*current));
  }

 private:
  Value applyConfiguration(const Value& current) const {
    ApplyResult result =
        applyPatch(current, patch_, target_.version->rules().schema(), manager_, force_);
    if (result.conflicts.empty()) return std::move(result.object);
    List<metav1::StatusCause> causes;
    for (const ApplyConflict& conflict : result.conflicts) {
      causes.push_back({.reason = "FieldManagerConflict",
                        .message = "conflict with " + conflict.describeManager(),
                        .field = toString(conflict.path)});
    }
    throw ApiError(status::applyConflict(std::move(causes), result.conflictMessage()));
  }

  const Target& target_;
  const PatchType type_;
  const FieldManager manager_;
  const bool force_;
  const Value patch_;
  JsonPatch operations_;
};

// The refusal of a patch that is well-formed but does not fit the object.
ApiError patchRefusal(const Target& target, PatchType type, const PatchError& error) {
  if (error.reason() == PatchError::Reason::SchemaMismatch) {
    // kube-apiserver reports this as an error of its own.
    return ApiError(
        {.status = "Failure",
         .message = fmt::format("failed to create typed patch object ({}; {}): {}", target.key(),
                                target.resource->kindIn(*target.version).str(), error.what()),
         .code = 500});
  }
  if (type != PatchType::Json) return ApiError(status::badRequest(error.what()));
  metav1::Status invalid =
      status::invalid({target.resource->name.group, target.resource->kind}, target.name, {});
  invalid.message = error.what();
  return ApiError(invalid);
}

// The object that a patch has made. Unknown fields are refused if `mode` is Strict; otherwise they
// are dropped and named in `problems`.
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
  const PatchType type = patchTypeOf(call);
  const ObjectForms forms(ObjectForms::Of::Object, call.request, target.resource, *target.version,
                          store_.clock());
  WriteOptions write = writeOptions(call.request, options);
  checkPatchOptions(options, type);
  write.applies = type == PatchType::Apply;
  write.mayCreate = write.applies && target.subresource.empty();
  Updated done{AnyObject(*target.version->type)};
  std::vector<std::string> problems;
  try {
    const Patch patch(target, type, call.request.http.body, store_.manager(target, write),
                      options.force.value_or(false));
    done = store_.update(
        target,
        [&](const AnyObject* current) {
          return patched(target, patch.apply(current), options.fieldValidation, problems);
        },
        write);
  } catch (const DecodeError& error) {
    throw ApiError(status::badRequest(fmt::format("error decoding patch: {}", error.what())));
  } catch (const PatchError& error) {
    throw patchRefusal(target, type, error);
  }
  addWarnings(call.reply, std::move(problems));
  call.reply.body(done.created ? 201 : 200, std::string(forms.form().mediaType()),
                  forms.object(done.object));
}

// --- Deletion.

namespace {

// The options of a deletion: from the body if there is one, else from the query.
metav1::DeleteOptions deleteOptions(const testing::ApiRequest& request) {
  if (request.http.body.empty()) return request.options<metav1::DeleteOptions>();
  try {
    // Clients write the group and version of the resource.
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

// As kube-apiserver: a deletion returns the object for some resources, a Status for the others.
bool answersWithObject(const GroupResource& resource) {
  static const std::set<GroupResource> kReturnObjectOnDelete = {
      {"", "persistentvolumeclaims"},
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
  return kReturnObjectOnDelete.contains(resource);
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

}  // namespace kube::apiserver
