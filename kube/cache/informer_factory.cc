#include "kube/cache/informer_factory.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "kube/base/error.h"
#include "kube/cache/internal/client_source.h"
#include "kube/rest/api_connection.h"

namespace kube {

namespace {

using detail::InformerRequest;
using detail::InformerSet;

std::string nameOf(const TypeInfo& type, const ResourceName& resource) {
  return fmt::format("{}/{}/{} as {}", resource.version.group, resource.version.version,
                     resource.plural, type.name);
}

bool isWhole(const metav1::ListOptions& which) {
  return which.labelSelector.empty() && which.fieldSelector.empty() && which.shardSelector.empty();
}

std::string describeSelection(const metav1::ListOptions& which,
                              const std::optional<Strings>& namespaces) {
  std::string text;
  const auto add = [&](std::string_view name, const String& value) {
    text += fmt::format("{}{} \"{}\"", text.empty() ? "" : ", ", name, value);
  };
  if (!which.labelSelector.empty()) add("labelSelector", which.labelSelector);
  if (!which.fieldSelector.empty()) add("fieldSelector", which.fieldSelector);
  if (!which.shardSelector.empty()) add("shardSelector", which.shardSelector);
  if (namespaces) {
    std::vector<String> names(namespaces->begin(), namespaces->end());
    std::ranges::sort(names);
    for (const String& name : names) add("namespace", name);
    if (names.empty()) text += text.empty() ? "no namespace" : ", no namespace";
  }
  return text;
}

// True if the namespaces are Strings{""}.
bool isAll(const Strings& namespaces) { return namespaces.size() == 1 && namespaces[0].empty(); }

bool contains(const Strings& namespaces, std::string_view name) {
  if (isAll(namespaces)) return true;
  return !name.empty() && std::find(namespaces.begin(), namespaces.end(), name) != namespaces.end();
}

void check(const Strings& namespaces, std::string_view whose) {
  if (isAll(namespaces)) return;
  for (const String& name : namespaces) {
    if (!name.empty()) continue;
    throw Error(
        fmt::format("informer factory: {}: one of several namespaces has no name: all namespaces "
                    "are Strings{{\"\"}}",
                    whose));
  }
}

}  // namespace

InformerFactory::InformerFactory(InformerFactoryOptions options, bool (*holds)(const TypeInfo&))
    : options_(std::move(options)), set_(std::make_shared<InformerSet>(options_.namespaces)) {
  if (options_.namespaces) {
    if (!options_.namespace_.empty()) {
      throw Error(
          "informer factory: namespace_ and namespaces are both set: choose one of the two");
    }
    for (const String& name : *options_.namespaces) {
      if (name.empty()) {
        throw Error("informer factory: a namespace has no name: leave namespaces unset for all");
      }
    }
  }
  for (auto kind = options_.kinds.begin(); kind != options_.kinds.end(); ++kind) {
    if (!holds(*kind->type)) {
      throw Error(
          fmt::format("informer factory: options of the kind {}: a factory of this type has no "
                      "objects of type {}",
                      kind->resource.str(), kind->type->name));
    }
    if (kind->namespaces) check(*kind->namespaces, kind->resource.str());
    const auto same = [&](const AnyKindOptions& other) {
      return other.resource == kind->resource && other.type->name == kind->type->name;
    };
    if (std::any_of(options_.kinds.begin(), kind, same)) {
      throw Error(fmt::format("informer factory: there are two options of the kind {}",
                              kind->resource.str()));
    }
  }
}

const AnyKindOptions* InformerFactory::optionsOf(const TypeInfo& type,
                                                 const ResourceName& resource) const {
  const auto found = std::ranges::find_if(options_.kinds, [&](const AnyKindOptions& kind) {
    return kind.resource.resource == resource.plural &&
           kind.resource.version == resource.version.version &&
           kind.resource.group == resource.version.group && kind.type->name == type.name;
  });
  return found != options_.kinds.end() ? &*found : nullptr;
}

// The objects of an informer.
struct InformerFactory::Selection {
  const AnyKindOptions* kind = nullptr;  // null: there are none
  metav1::ListOptions which = {};
  std::optional<Strings> namespaces = {};  // not set: the factory's
  std::string text = {};
};

InformerFactory::Selection InformerFactory::select(const InformerRequest& request) const {
  Selection selection{.kind = optionsOf(request.type.info, request.resource)};
  if (request.which) {
    selection.which.labelSelector = request.which->labelSelector;
    selection.which.fieldSelector = request.which->fieldSelector;
    selection.which.shardSelector = request.which->shardSelector;
  } else if (selection.kind != nullptr) {
    selection.which.labelSelector = selection.kind->labelSelector;
    selection.which.fieldSelector = selection.kind->fieldSelector;
  }
  selection.namespaces = request.namespaces;
  if (!selection.namespaces && selection.kind != nullptr) {
    selection.namespaces = selection.kind->namespaces;
  }
  if (selection.namespaces) {
    check(*selection.namespaces, request.resource.plural);
    if (request.resource.scope == RestScope::Root && !isAll(*selection.namespaces)) {
      throw Error(fmt::format("informer factory: {} are in no namespace, so none can be chosen",
                              request.resource.plural.view()));
    }
  }
  selection.text = describeSelection(selection.which, selection.namespaces);
  return selection;
}

InformerSet::Made InformerFactory::make(const InformerRequest& request,
                                        std::optional<Clock::Duration> resync,
                                        const std::optional<Strings>& factorysNamespaces) const {
  Selection selection = select(request);
  const AnyKindOptions* const kind = selection.kind;
  SharedInformerOptions options = options_.informer;
  options.name = request.resource.plural.str();
  options.resync = options_.resync;
  if (kind != nullptr && kind->resync) options.resync = *kind->resync;
  if (resync) options.resync = *resync;

  const bool whole = isWhole(selection.which);
  const detail::ResourceRequests requests = request.requests();
  const auto tweak = [own = options_.tweakListOptions,
                      which = std::move(selection.which)](metav1::ListOptions& list) {
    if (!which.labelSelector.empty()) list.labelSelector = which.labelSelector;
    if (!which.fieldSelector.empty()) list.fieldSelector = which.fieldSelector;
    if (!which.shardSelector.empty()) list.shardSelector = which.shardSelector;
    if (own) own(list);
  };
  const auto sourceIn = [requests, tweak, &info = request.type.info,
                         makeObject = request.type.makeObject](const String& namespaceName) {
    return detail::clientSource({requests.inNamespace(namespaceName), tweak}, info, makeObject);
  };
  const bool anyNamespace = request.resource.scope == RestScope::Root ||
                            (selection.namespaces && isAll(*selection.namespaces));
  InformerSet::Made made{.selection = std::move(selection.text)};
  made.ofFactorysNamespaces = !anyNamespace && !selection.namespaces && factorysNamespaces;
  auto store = request.type.makeStore();
  detail::UntypedTransform transform =
      kind != nullptr && kind->transform
          ? kind->transform
          : detail::untypedTransform(options_.transform, store->type());
  if (!anyNamespace && (selection.namespaces || factorysNamespaces)) {
    detail::NamespacedSources sources{detail::ClientQueries(requests, tweak).executor(), sourceIn};
    made.informer = std::make_shared<detail::InformerCore>(
        std::move(store), std::move(sources),
        selection.namespaces ? *selection.namespaces : *factorysNamespaces, std::move(options));
  } else {
    made.informer = detail::makeInformer(std::move(store),
                                         sourceIn(anyNamespace ? String() : options_.namespace_),
                                         std::move(options));
  }
  if (transform) made.informer->setTransform(std::move(transform));
  if (whole) made.informer->holdAll(anyNamespace ? String() : options_.namespace_);
  return made;
}

InformerFactory::Core InformerFactory::obtain(const InformerRequest& request,
                                              std::optional<Clock::Duration> resync) const {
  detail::InformerName name{nameOf(request.type.info, request.resource)};
  if (request.which || request.namespaces) name.selection = select(request).text;
  return set_->obtain(name, request.counted, [&](const std::optional<Strings>& namespaces) {
    return make(request, resync, namespaces);
  });
}

InformerFactory::Core InformerFactory::found(const TypeInfo& type,
                                             const ResourceName& resource) const {
  return set_->found({nameOf(type, resource)});
}

InformerSet::Covering InformerFactory::covering(const InformerRequest& request,
                                                std::string_view namespaceName, bool make,
                                                std::optional<Clock::Duration> resync) const {
  InformerSet::Covering found =
      set_->covering(nameOf(request.type.info, request.resource), namespaceName);
  if (found.informer != nullptr || !make || !wouldCover(request, namespaceName)) return found;
  found.any = obtain(request, resync);
  if (found.any->covers(namespaceName)) found.informer = found.any;
  return found;
}

// Returns whether the informer of the kind's options has all objects of a namespace.
bool InformerFactory::wouldCover(const InformerRequest& request,
                                 std::string_view namespaceName) const {
  const Selection selection = select(request);
  if (!isWhole(selection.which)) return false;
  if (request.resource.scope == RestScope::Root) return true;
  return selection.namespaces ? contains(*selection.namespaces, namespaceName)
                              : covers(namespaceName);
}

bool InformerFactory::covers(std::string_view namespaceName) const {
  if (const auto several = namespaces()) return contains(*several, namespaceName);
  return options_.namespace_.empty() || options_.namespace_ == namespaceName;
}

InformerFactory::Core InformerFactory::obtain(const TypeInfo& type, const ResourceName& resource,
                                              const std::function<Core()>& make) const {
  return set_->obtain({nameOf(type, resource)}, false, [&](const std::optional<Strings>&) {
    return InformerSet::Made{
        .informer = make(), .selection = "a source of its own", .ofOwnSource = true};
  });
}

bool InformerFactory::waitForSync(const std::stop_token& stop) const {
  return detail::runBlocking(InformerSet::waitForSync(set_, orReal(options_.informer.clock)), stop);
}

AsyncCaches InformerFactory::async() const {
  return AsyncCaches([set = set_, clock = &orReal(options_.informer.clock)] {
    return InformerSet::waitForSync(set, *clock);
  });
}

}  // namespace kube
