#include "kube/testing/resource_verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "kube/codec/base64.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/json_patch.h"
#include "kube/codec/merge_patch.h"
#include "kube/codec/patch.h"
#include "kube/codec/patch_error.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/strategic_merge.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/api_error.h"
#include "kube/meta/field_selector.h"
#include "kube/meta/label_selector.h"
#include "kube/testing/custom_resources.h"
#include "kube/testing/kind_rules.h"
#include "kube/testing/verb_call.h"

namespace kube::testing {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxBody = 3 << 20;
constexpr auto kWatchTimeout = 45min;  // the middle of what kube-apiserver picks at random

// Where the next page of a list begins, and at which revision.
std::string continueToken(std::int64_t revision, std::string_view last) {
  std::string token;
  kube::detail::base64Encode(
      toJson(Value(
          Value::Object{{"v", "meta.k8s.io/v1"}, {"rv", revision}, {"start", std::string(last)}})),
      token);
  return token;
}

std::pair<std::int64_t, std::string> readContinue(std::string_view token) {
  try {
    std::string text;
    const Value value = kube::detail::base64Decode(token, text) ? parseJson(text) : Value();
    if (value["v"].asString() == "meta.k8s.io/v1" && value["rv"].isInt() &&
        value["rv"].asInt() > 0 && value["start"].isString()) {
      return {value["rv"].asInt(), value["start"].asString().str()};
    }
  } catch (const Error&) {
  }
  throw ApiError(status::badRequest("continue key is not valid: it is not one of this server's"));
}

metav1::Status expiredContinue(const std::string& token) {
  metav1::Status status = status::expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.");
  status.metadata.continue_ = token;
  return status;
}

bool isDry(const List<String>& dryRun, const Target& target) {
  for (const String& one : dryRun) {
    if (one != "All") {
      refuse(target, target.name,
             {FieldError::notSupported(ErrorPath("dryRun"), one.view(), {"All"})});
    }
  }
  return !dryRun.empty();
}

// Who writes, as the request's options or its User-Agent say.
String managerOf(const ApiRequest& request, const String& fieldManager) {
  if (!fieldManager.empty()) return fieldManager;
  const std::string_view agent = request.http.headers.get("User-Agent");
  const std::string_view name = agent.substr(0, agent.find('/'));
  return name.empty() ? "unknown" : name.substr(0, validation::kFieldManagerMaxLength);
}

template <class Options>
WriteOptions writeOptions(const ApiRequest& request, const Options& options, const Target& target) {
  refuse(target, target.name,
         validation::validateFieldManager(options.fieldManager, ErrorPath("fieldManager")));
  return {.manager = managerOf(request, options.fieldManager),
          .dryRun = isDry(options.dryRun, target)};
}

}  // namespace

// --- Reading.

ObjectFilter ResourceVerbs::filterOf(const VerbCall& call,
                                     const metav1::ListOptions& options) const {
  const Target& target = call.target;
  ObjectFilter filter;
  if (target.resource->namespaced && !target.namespace_.empty()) {
    filter.prefix = target.namespace_.str() + "/";
  }
  labels::Selector labelled;
  fields::Selector selected;
  try {
    labelled = labels::Selector::parse(options.labelSelector);
    selected = fields::Selector::parse(options.fieldSelector);
  } catch (const DecodeError& error) {
    throw ApiError(
        status::badRequest(fmt::format("unable to parse requirement: {}", error.reason())));
  }
  const KindRules rules(*target.resource, *target.version);
  for (const fields::Requirement& term : selected.requirements()) {
    if (!rules.selects(term.field)) {
      throw ApiError(status::badRequest(fmt::format(
          "Unable to find \"{}\" that match label selector \"{}\", field selector "
          "\"{}\": {}",
          GroupVersionResource{target.resource->name.group, target.version->version,
                               target.resource->name.resource}
              .str(),
          options.labelSelector, options.fieldSelector, rules.unknownField(term.field))));
    }
  }
  if (labelled.empty() && selected.empty() && target.name.empty()) return filter;
  filter.matches = [labelled, selected, target](const StoredObject& object) {
    if (!target.name.empty() && object.meta().name != target.name) return false;
    if (!labelled.matches(object.meta().labels)) return false;
    if (selected.empty()) return true;
    const KindRules rules(*target.resource, *target.version);
    return selected.matches([&](std::string_view field) -> std::optional<String> {
      if (field == "metadata.name") return object.meta().name;
      if (field == "metadata.namespace") return object.meta().namespace_;
      return rules.selectableField(object.object(), field);
    });
  };
  return filter;
}

std::int64_t ResourceVerbs::revisionOf(std::string_view text, std::string_view field) const {
  if (text.empty()) return 0;
  std::int64_t revision = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error != std::errc() || end != text.data() + text.size() || revision < 0) {
    throw ApiError(status::badRequest(
        fmt::format("Invalid value: \"{}\": {} is not a valid resource version", text, field)));
  }
  const std::int64_t current = store_.storage().revision();
  if (revision > current) {
    metav1::Status status = status::timeout(
        fmt::format("Too large resource version: {}, current: {}", revision, current), 1);
    status.details->causes.push_back(
        {.reason = "ResourceVersionTooLarge", .message = "Too large resource version"});
    throw ApiError(status);
  }
  return revision;
}

void ResourceVerbs::get(VerbCall& call) {
  const ObjectForms forms(call.request, call.target.resource, *call.target.version, store_.clock());
  revisionOf(call.request.param("resourceVersion").value_or(""), "resourceVersion");
  const AnyObject object = store_.get(call.target);
  call.reply.body(200, std::string(forms.form().mediaType()), forms.object(object));
}

void ResourceVerbs::list(VerbCall& call) {
  const auto options = call.request.options<metav1::ListOptions>();
  const ApiResource& resource = *call.target.resource;
  const ObjectForms forms(call.request, call.target.resource, *call.target.version, store_.clock());
  const ObjectFilter filter = filterOf(call, options);
  ListRange range{.prefix = filter.prefix, .matches = filter.matches};
  if (options.limit < 0) throw ApiError(status::badRequest("limit must not be negative"));
  range.limit = static_cast<std::size_t>(options.limit);
  const std::string_view match = options.resourceVersionMatch;
  const auto forbidden = [&](std::string_view why) {
    refuse(call.target, "", {FieldError::forbidden(ErrorPath("resourceVersionMatch"), why)});
  };
  if (!match.empty()) {
    if (options.resourceVersion.empty()) {
      forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_.empty()) {
      forbidden("resourceVersionMatch is forbidden when continue is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") {
      refuse(call.target, "",
             {FieldError::notSupported(ErrorPath("resourceVersionMatch"), match,
                                       {"Exact", "NotOlderThan", ""})});
    }
    if (match == "Exact" && options.resourceVersion == "0") {
      forbidden("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  std::string after;
  if (!options.continue_.empty()) {
    if (!options.resourceVersion.empty() && options.resourceVersion != "0") {
      throw ApiError(
          status::badRequest("specifying resource version is not allowed when using continue"));
    }
    std::tie(range.revision, after) = readContinue(options.continue_);
    range.after = after;
  } else {
    const std::int64_t revision = revisionOf(options.resourceVersion, "resourceVersion");
    // As kube-apiserver: a limited list at a revision is of that revision exactly.
    const bool exact = match == "Exact" || (match.empty() && revision > 0 && range.limit != 0);
    if (exact) range.revision = revision;
  }
  const Page page = store_.storage().list(*resource.objects, range);
  if (page.revision == 0) {
    if (options.continue_.empty()) {
      throw ApiError(status::expired(fmt::format(
          "The provided resource version {} is too old: it has been compacted", range.revision)));
    }
    throw ApiError(expiredContinue(continueToken(store_.storage().revision(), after)));
  }
  metav1::ListMeta meta;
  meta.resourceVersion = std::to_string(page.revision);
  if (!page.last.empty()) {
    meta.continue_ = continueToken(page.revision, page.last);
    // With a selector, what remains is not known.
    if (!filter.matches) meta.remainingItemCount = static_cast<std::int64_t>(page.remaining);
  }
  call.reply.body(200, std::string(forms.form().mediaType()), forms.list(page, meta));
}

void ResourceVerbs::watch(VerbCall& call) {
  const auto options = call.request.options<metav1::ListOptions>();
  const ApiResource& resource = *call.target.resource;
  ObjectForms forms(call.request, call.target.resource, *call.target.version, store_.clock());
  ObjectFilter filter = filterOf(call, options);
  const bool initial = options.sendInitialEvents.value_or(false);
  const auto forbidden = [&](std::string_view field, std::string_view why) {
    refuse(call.target, "", {FieldError::forbidden(ErrorPath(field), why)});
  };
  if (options.sendInitialEvents && options.resourceVersionMatch != "NotOlderThan") {
    forbidden("resourceVersionMatch",
              "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (!options.sendInitialEvents && !options.resourceVersionMatch.empty()) {
    forbidden("resourceVersionMatch",
              "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (initial && !options.allowWatchBookmarks) {
    forbidden("allowWatchBookmarks",
              "sendInitialEvents requires setting allowWatchBookmarks to true");
  }
  const std::int64_t since = revisionOf(options.resourceVersion, "resourceVersion");
  WatchPlan plan{.from = since,
                 .endInitial = initial,
                 .bookmarks = options.allowWatchBookmarks,
                 .bookmarkPeriod = bookmarkPeriod_,
                 .timeout = kWatchTimeout};
  if (options.timeoutSeconds && *options.timeoutSeconds > 0) {
    plan.timeout = std::chrono::seconds(std::min<std::int64_t>(*options.timeoutSeconds, 86400));
  }
  const bool state = initial || (since == 0 && options.sendInitialEvents.value_or(true));
  if (state) {
    Page page = store_.storage().list(*resource.objects,
                                      {.prefix = filter.prefix, .matches = filter.matches});
    plan.initial = std::move(page.objects);
    plan.from = page.revision;
  } else if (since == 0) {
    plan.from = store_.storage().revision();
  }
  auto body = WatchBody::start(
      std::make_shared<WatchBody>(store_.storage(), call.target.resource, std::move(filter),
                                  std::move(forms), std::move(plan), store_.clock()),
      call.reply.responder());
  std::lock_guard lock(watchesMutex_);
  std::erase_if(watches_, [](const auto& one) { return one.expired(); });
  watches_.push_back(body);
}

std::vector<std::shared_ptr<WatchBody>> ResourceVerbs::watches() {
  std::lock_guard lock(watchesMutex_);
  std::vector<std::shared_ptr<WatchBody>> result;
  for (const auto& weak : watches_) {
    if (auto body = weak.lock()) result.push_back(std::move(body));
  }
  return result;
}

// --- Writing.

AnyObject ResourceVerbs::decodeBody(VerbCall& call, const Target& target,
                                    std::string_view mode) const {
  const ApiResource& resource = *target.resource;
  const ApiVersion& version = *target.version;
  const std::string& body = call.request.http.body;
  if (!mode.empty() && mode != "Strict" && mode != "Warn" && mode != "Ignore") {
    refuse(target, target.name,
           {FieldError::notSupported(ErrorPath("fieldValidation"), mode,
                                     {"Ignore", "Strict", "Warn"})});
  }
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
    if (binary) {
      const ProtobufEnvelope envelope = openProtobuf(body);
      const GroupVersion parsed = GroupVersion::parse(envelope.apiVersion);
      said = {parsed.group, parsed.version, envelope.kind};
    } else {
      if (format == Format::Yaml) document = yamlDocument(body);
      const TypeMeta type = document ? document->type() : peekTypeMeta(body);
      const GroupVersion parsed = GroupVersion::parse(type.apiVersion);
      said = {parsed.group, parsed.version, type.kind};
      if (said.kind.empty() && type.apiVersion.empty() && !resource.custom()) said = expected;
    }
    if (said != expected) {
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
        decodeJson(object.type(), object.data(), body, options);
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
    fail(fmt::format("strict decoding error: {}", fmt::join(problems, ", ")));
  }
  for (std::string& problem : problems) call.reply.warnings.push_back(std::move(problem));
  return object;
}

void ResourceVerbs::create(VerbCall& call) {
  const auto options = call.request.options<metav1::CreateOptions>();
  const ObjectForms forms(call.request, call.target.resource, *call.target.version, store_.clock());
  AnyObject object = decodeBody(call, call.target, options.fieldValidation);
  const AnyObject made = store_.create(call.target, std::move(object),
                                       writeOptions(call.request, options, call.target));
  call.reply.body(201, std::string(forms.form().mediaType()), forms.object(made));
}

void ResourceVerbs::update(VerbCall& call) {
  const auto options = call.request.options<metav1::UpdateOptions>();
  const ObjectForms forms(call.request, call.target.resource, *call.target.version, store_.clock());
  AnyObject object = decodeBody(call, call.target, options.fieldValidation);
  WriteOptions write = writeOptions(call.request, options, call.target);
  write.mayCreate = call.target.subresource.empty() &&
                    KindRules(*call.target.resource, *call.target.version).allowsCreateOnUpdate();
  const Updated done = store_.update(
      call.target, [&](const AnyObject*) { return object; }, write);
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
  const ObjectForms forms(call.request, target.resource, *target.version, store_.clock());
  WriteOptions write = writeOptions(call.request, options, target);
  const bool applies = *type == PatchType::Apply;
  if (applies && options.fieldManager.empty()) {
    refuse(target, target.name,
           {FieldError::required(ErrorPath("fieldManager"), "is required for apply patch")});
  }
  if (!applies && options.force) {
    refuse(target, target.name,
           {FieldError::forbidden(ErrorPath("force"), "may not be specified for non-apply patch")});
  }
  write.applies = applies;
  write.mayCreate = applies && target.subresource.empty();
  const std::string& body = call.request.http.body;
  Updated done{AnyObject(*target.version->type)};
  try {
    const Value patch = applies ? parseYaml(body) : parseJson(body);
    if (!patch.isObject() && *type != PatchType::Json) {
      throw ApiError(status::badRequest("error decoding patch: it is no object"));
    }
    if (applies && patch["apiVersion"].asString() !=
                       GroupVersion{target.resource->name.group, target.version->version}.str()) {
      throw ApiError(status::badRequest(
          fmt::format("apiVersion of the configuration is \"{}\", expected \"{}\"",
                      patch["apiVersion"].asString(),
                      GroupVersion{target.resource->name.group, target.version->version}.str())));
    }
    done = store_.update(
        target,
        [&](const AnyObject* current) {
          Value next;
          switch (*type) {
            case PatchType::Json:
              next = JsonPatch::fromValue(patch).apply(toValue(*current));
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
          return fromValue(target, next);
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
    throw ApiError(refusal);
  }
  call.reply.body(done.created ? 201 : 200, std::string(forms.form().mediaType()),
                  forms.object(done.object));
}

namespace {

// From the body, or else from the query.
metav1::DeleteOptions deleteOptions(const ApiRequest& request) {
  if (request.http.body.empty()) return request.options<metav1::DeleteOptions>();
  try {
    const Format format = request.bodyFormat();
    const DecodeOptions any{.checkKind = false};
    if (format == Format::Protobuf) {
      return fromProtobuf<metav1::DeleteOptions>(request.http.body, any);
    }
    return fromYaml<metav1::DeleteOptions>(request.http.body, any);
  } catch (const DecodeError& error) {
    throw ApiError(status::badRequest(error.what()));
  }
}

}  // namespace

void ResourceVerbs::remove(VerbCall& call) {
  const metav1::DeleteOptions options = deleteOptions(call.request);
  const ObjectForms forms(call.request, call.target.resource, *call.target.version, store_.clock());
  const Removed removed =
      store_.remove(call.target, options, {.dryRun = isDry(options.dryRun, call.target)});
  if (!removed.gone) {
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
  const ObjectForms forms(call.request, call.target.resource, *call.target.version, store_.clock());
  const ObjectFilter filter = filterOf(call, which);
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
      store_.remove(target, options, {.dryRun = isDry(options.dryRun, target)});
    } catch (const ApiError& error) {
      if (!isNotFound(error)) throw;
    }
  }
  call.reply.body(200, std::string(forms.form().mediaType()),
                  forms.list(page, {.resourceVersion = std::to_string(page.revision)}));
}

// --- Which of them.

Target ResourceVerbs::targetOf(const ApiRequest& request) const {
  Target target;
  target.resource = store_.resources().find({request.resource.group, request.resource.resource});
  if (target.resource) target.version = target.resource->version(request.resource.version);
  if (target.version == nullptr) {
    throw ApiError({.status = "Failure",
                    .message = "the server could not find the requested resource",
                    .reason = "NotFound",
                    .code = 404});
  }
  if (target.resource->namespaced) {
    target.namespace_ = request.namespace_;
  } else if (!request.namespace_.empty() && target.resource->name.resource != "namespaces") {
    throw ApiError({.status = "Failure",
                    .message = "the server could not find the requested resource",
                    .reason = "NotFound",
                    .code = 404});
  }
  target.name = request.name;
  target.subresource = request.subresource;
  return target;
}

void ResourceVerbs::handle(const ApiRequest& request, const User& user, Reply& reply) {
  VerbCall call{request, user, targetOf(request), reply};
  const Target& target = call.target;
  if (request.http.body.size() > kMaxBody) {
    throw ApiError(status::requestEntityTooLarge(fmt::format("limit is {}", kMaxBody)));
  }
  const auto unsupported = [&] {
    throw ApiError(status::methodNotSupported(target.resource->name, request.verb));
  };
  if (!target.subresource.empty()) {
    const ServedSubresource* sub = target.version->subresource(target.subresource);
    if (sub == nullptr) {
      throw ApiError({.status = "Failure",
                      .message = "the server could not find the requested resource",
                      .reason = "NotFound",
                      .code = 404});
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
    throw ApiError({.status = "Failure",
                    .message = "the server could not find the requested resource",
                    .reason = "NotFound",
                    .code = 404});
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

}  // namespace kube::testing
