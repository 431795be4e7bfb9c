// The verbs that read: get, list and watch.
#include <fmt/core.h>

#include <algorithm>

#include "kube/apiserver/server/resource_verbs.h"
#include "kube/base/internal/base64.h"
#include "kube/base/internal/text.h"
#include "kube/codec/json.h"
#include "kube/meta/api_error.h"
#include "kube/meta/selectors/field_selector.h"
#include "kube/meta/selectors/label_selector.h"

namespace kube::apiserver {

namespace {

using namespace std::chrono_literals;

constexpr auto kWatchTimeout = 45min;  // the mean of kube-apiserver's random value

const GroupKind kListOptions{"meta.k8s.io", "ListOptions"};

// The position and revision of the next page.
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
  throw ApiError(status::badRequest(
      "invalid continue token: continue key is not valid: it is not one of this server's"));
}

bool selects(const ApiVersion& version, std::string_view field) {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return version.namespaced;
  return version.rules().selects(field);
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

}  // namespace

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
    throw ApiError(status::badRequest(error.reason()));
  }
  for (const fields::Requirement& term : selected.requirements()) {
    if (!selects(*target.version, term.field)) {
      throw ApiError(status::badRequest(
          fmt::format("Unable to find \"{}\" that match label selector \"{}\", field selector "
                      "\"{}\": {}",
                      GroupVersionResource{target.resource->name.group, target.version->version,
                                           target.resource->name.resource}
                          .str(),
                      options.labelSelector, options.fieldSelector,
                      target.version->rules().unknownField(term.field))));
    }
  }
  if (labelled.empty() && selected.empty() && target.name.empty()) return filter;
  filter.matches = [labelled, selected, target](const StoredObject& object) {
    if (!target.name.empty() && object.meta().name != target.name) return false;
    if (!labelled.matches(object.meta().labels)) return false;
    if (selected.empty()) return true;
    return selected.matches([&](std::string_view field) -> std::optional<String> {
      if (field == "metadata.name") return object.meta().name;
      if (field == "metadata.namespace") return object.meta().namespace_;
      return target.version->rules().selectableField(
          target.resource->convert(object.object(), *target.version), field);
    });
  };
  return filter;
}

std::int64_t ResourceVerbs::revisionOf(std::string_view text) {
  if (text.empty()) return 0;
  const auto revision = kube::detail::parseNumber<std::int64_t>(text);
  if (!revision || *revision < 0) {
    throw ApiError({.status = "Failure",
                    .message = fmt::format("resourceVersion: Invalid value: \"{}\": "
                                           "strconv.ParseUint: parsing \"{}\": invalid syntax",
                                           text, text),
                    .code = 500});
  }
  return *revision;
}

std::int64_t ResourceVerbs::reachedRevisionOf(std::string_view text) const {
  const std::int64_t revision = revisionOf(text);
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
  const ObjectForms forms(ObjectForms::Of::Object, call.request, call.target.resource,
                          *call.target.version, store_.clock());
  reachedRevisionOf(call.request.param("resourceVersion").value_or(""));
  const AnyObject object = store_.get(call.target);
  call.reply.body(200, std::string(forms.form().mediaType()), forms.object(object));
}

void ResourceVerbs::list(VerbCall& call) {
  const auto options = call.request.options<metav1::ListOptions>();
  const ApiResource& resource = *call.target.resource;
  const ObjectForms forms(ObjectForms::Of::List, call.request, call.target.resource,
                          *call.target.version, store_.clock());
  const ObjectFilter filter = filterOf(call, options);
  ListRange range{.prefix = filter.prefix, .matches = filter.matches};
  // As kube-apiserver: for "0" the cache returns everything, regardless of the limit.
  if (options.resourceVersion != "0") {
    range.limit = static_cast<std::size_t>(std::max<std::int64_t>(options.limit, 0));
  }
  const std::string_view match = options.resourceVersionMatch;
  const auto forbidden = [&](std::string_view why) {
    refuse(kListOptions, "", {FieldError::forbidden(ErrorPath("resourceVersionMatch"), why)});
  };
  if (!match.empty()) {
    if (options.resourceVersion.empty()) {
      forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!options.continue_.empty()) {
      forbidden("resourceVersionMatch is forbidden when continue is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") {
      refuse(kListOptions, "",
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
    if (range.revision > store_.storage().revision()) {  // from before a restore
      throw ApiError({.status = "Failure",
                      .message = "etcdserver: mvcc: required revision is a future revision",
                      .code = 500});
    }
  } else {
    const std::int64_t revision = reachedRevisionOf(options.resourceVersion);
    // As kube-apiserver: a limited list at a revision is of exactly that revision.
    const bool exact = match == "Exact" || (match.empty() && revision > 0 && range.limit != 0);
    if (exact) range.revision = revision;
  }
  Page page = store_.storage().list(*resource.objects, range);
  if (page.revision == 0) {
    if (options.continue_.empty()) {
      throw ApiError(status::expired("The resourceVersion for the provided list is too old."));
    }
    throw ApiError(expiredContinue(continueToken(store_.storage().revision(), after)));
  }
  metav1::ListMeta meta;
  meta.resourceVersion = std::to_string(page.revision);
  if (!page.last.empty()) {
    meta.continue_ = continueToken(page.revision, page.last);
    // With a selector, the number of remaining objects is not known.
    if (!filter.matches) meta.remainingItemCount = static_cast<std::int64_t>(page.remaining);
  }
  call.reply.stream(200, std::string(forms.form().mediaType()), forms.list(std::move(page), meta));
}

void ResourceVerbs::watch(VerbCall& call) {
  const auto options = call.request.options<metav1::ListOptions>();
  const ApiResource& resource = *call.target.resource;
  ObjectForms forms(ObjectForms::Of::Stream, call.request, call.target.resource,
                    *call.target.version, store_.clock());
  ObjectFilter filter = filterOf(call, options);
  const bool initial = options.sendInitialEvents.value_or(false);
  const auto forbidden = [&](std::string_view field, std::string_view why) {
    refuse(kListOptions, "", {FieldError::forbidden(ErrorPath(field), why)});
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
  // As kube-apiserver: initial events need a revision that was reached; other watches may wait for
  // it.
  const std::int64_t since =
      initial ? reachedRevisionOf(options.resourceVersion) : revisionOf(options.resourceVersion);
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
  } else {
    plan.expired = since < store_.storage().compacted(*resource.objects);
  }
  auto body = WatchBody::start(
      std::make_shared<WatchBody>(store_.storage(), call.target.resource, std::move(filter),
                                  std::move(forms), std::move(plan), store_.clock()),
      call.reply.responder());
  const detail::Lock lock(watchesMutex_);
  std::erase_if(watches_, [](const auto& one) { return one.expired(); });
  watches_.push_back(body);
}

std::vector<std::shared_ptr<WatchBody>> ResourceVerbs::watches() {
  const detail::Lock lock(watchesMutex_);
  std::vector<std::shared_ptr<WatchBody>> result;
  for (const auto& weak : watches_) {
    if (auto body = weak.lock()) result.push_back(std::move(body));
  }
  return result;
}

}  // namespace kube::apiserver
