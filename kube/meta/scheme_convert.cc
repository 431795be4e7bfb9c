// Chooses and runs the conversions of a Scheme.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "kube/base/joined.h"
#include "kube/meta/internal/default_conversion.h"
#include "kube/meta/internal/path.h"
#include "kube/meta/scheme.h"
#include "kube/meta/unstructured.h"

namespace kube {

namespace {

std::string compose(const std::string& from, const std::string& to, const std::string& path,
                    const std::string& reason) {
  std::string message = fmt::format("converting {} to {}: ", from, to);
  if (!path.empty()) message.append(path).append(": ");
  return message.append(reason);
}

// The kind in `version` of an object with these kinds: its own kind there, or the name of its kind
// in another version of the group.
std::optional<GroupVersionKind> kindIn(const GroupVersion& version,
                                       const std::vector<GroupVersionKind>& kinds) {
  for (const GroupVersionKind& kind : kinds) {
    if (kind.groupVersion() == version) return kind;
  }
  for (const GroupVersionKind& kind : kinds) {
    if (kind.group == version.group) return version.withKind(kind.kind);
  }
  return std::nullopt;
}

// The same for the best of several versions: one of the object's own versions, else the first that
// fits.
std::optional<GroupVersionKind> kindIn(std::span<const GroupVersion> versions,
                                       const std::vector<GroupVersionKind>& kinds) {
  std::optional<GroupVersionKind> first;
  for (const GroupVersion& version : versions) {
    std::optional<GroupVersionKind> kind = kindIn(version, kinds);
    if (!kind) continue;
    if (std::ranges::find(kinds, *kind) != kinds.end()) return kind;
    if (!first) first = std::move(kind);
  }
  return first;
}

std::string inWords(std::span<const GroupVersion> versions) {
  if (versions.size() == 1) return versions[0].str();
  return fmt::format("[{}]",
                     joined(versions, ",", [](const auto& version) { return version.str(); }));
}

}  // namespace

ConversionError::ConversionError(std::string from, std::string to, std::string path,
                                 std::string reason)
    : Error(compose(from, to, path, reason)),
      facts_(std::make_shared<const Facts>(
          Facts{std::move(from), std::move(to), std::move(path), std::move(reason)})) {}
ConversionError::~ConversionError() = default;

void ConversionScope::fail(const std::string& reason) const {
  throw ConversionError(scheme_.describe(from_), scheme_.describe(to_), detail::pathOf(path_),
                        reason);
}

void ConversionScope::convert(const TypeInfo& from, const void* in, const TypeInfo& to, void* out) {
  const detail::ConversionDepth deeper(*this, depth_);
  scheme_.convertPair(*this, from, in, to, out);
}

void ConversionScope::defaultConvert(const TypeInfo& from, const void* in, const TypeInfo& to,
                                     void* out, const DefaultConversionOptions& options) {
  if (&from == &to) return detail::assignMessage(to, out, in);
  const detail::ConversionDepth deeper(*this, depth_);
  detail::DefaultConversion(*this, options.lossy)
      .message(from, static_cast<const std::byte*>(in), to, static_cast<std::byte*>(out),
               {options.handled.begin(), options.handled.size()});
}

const detail::Conversion* Scheme::findPair(const TypeInfo& from, const TypeInfo& to) const {
  const auto found = conversions_.find({&from, &to});
  return found != conversions_.end() ? &found->second : nullptr;
}

std::vector<GroupVersionKind> Scheme::kindsOf(const TypeInfo& type) const {
  if (const auto found = kinds_.find(&type); found != kinds_.end()) return found->second;
  if (type.resource == nullptr) return {};
  return {{type.resource->group, type.resource->version, type.resource->kind}};
}

// The common hub of both types, if it is neither of them; else null.
const TypeInfo* Scheme::hubBetween(const ConversionScope& scope, const TypeInfo& from,
                                   const TypeInfo& to) const {
  const auto hubsOf = [&](const TypeInfo& type) {
    std::vector<const TypeInfo*> hubs;
    const auto kinds = kinds_.find(&type);
    if (kinds == kinds_.end()) return hubs;
    static const String kInternal(kInternalVersion);
    for (const GroupVersionKind& kind : kinds->second) {
      const auto internal = types_.find(kind.groupKind().withVersion(kInternal));
      if (internal != types_.end()) hubs.push_back(internal->second);
      const auto marked = hubs_.find(kind.groupKind());
      if (marked == hubs_.end()) continue;
      const auto hub = types_.find(kind.groupKind().withVersion(marked->second));
      if (hub == types_.end()) {
        scope.fail(fmt::format("the hub of {}, {}, is not registered", kind.groupKind().str(),
                               marked->second));
      }
      hubs.push_back(hub->second);
    }
    return hubs;
  };
  const std::vector<const TypeInfo*> hubs = hubsOf(from);
  if (hubs.empty()) return nullptr;
  const TypeInfo* found = nullptr;
  for (const TypeInfo* hub : hubsOf(to)) {
    if (hub == found || std::ranges::find(hubs, hub) == hubs.end()) continue;
    if (found != nullptr) {
      scope.fail(
          fmt::format("ambiguous: {} and {} are both the hub", describe(*found), describe(*hub)));
    }
    found = hub;
  }
  return found != &from && found != &to ? found : nullptr;
}

// True if the tables alone may convert: for two types that are not kinds, and for two versions of
// one kind.
bool Scheme::mayDefault(const TypeInfo& from, const TypeInfo& to) const {
  if (from.form == JsonForm::Dynamic || to.form == JsonForm::Dynamic) return false;
  const std::vector<GroupVersionKind> fromKinds = kindsOf(from);
  const std::vector<GroupVersionKind> toKinds = kindsOf(to);
  if (fromKinds.empty() && toKinds.empty()) return true;
  return std::ranges::any_of(fromKinds, [&](const GroupVersionKind& kind) {
    return std::ranges::any_of(toKinds, [&](const GroupVersionKind& other) {
      return kind.kind == other.kind && kind.group == other.group;
    });
  });
}

// Converts by the registration for exactly this pair. Returns false if there is none.
bool Scheme::callRegistered(ConversionScope& scope, const TypeInfo& from, const void* in,
                            const TypeInfo& to, void* out) const {
  const detail::Conversion* known = findPair(from, to);
  if (known == nullptr) return false;
  if (known->ignored) return true;
  const detail::ConversionFunction& function = known->function ? known->function : known->generated;
  if (function) {
    try {
      function(in, out, scope);
    } catch (const ConversionError&) {
      throw;
    } catch (const Error& error) {
      scope.fail(error.what());
    }
    return true;
  }
  if (known->byDefault) scope.defaultConvert(from, in, to, out, {.lossy = known->lossy});
  return known->byDefault;
}

// Converts by a registration, or by the tables if that is allowed.
void Scheme::convertDirectly(ConversionScope& scope, const TypeInfo& from, const void* in,
                             const TypeInfo& to, void* out) const {
  if (callRegistered(scope, from, in, to, out)) return;
  if (!mayDefault(from, to)) {
    scope.fail(
        fmt::format("no conversion of {} to {} is registered", describe(from), describe(to)));
  }
  scope.defaultConvert(from, in, to, out);
}

// Converts by a registration or through the hub. Returns false if only the tables are left; the
// caller then uses them. The items of a list are objects too, and may have a hub.
bool Scheme::convertPart(ConversionScope& scope, const TypeInfo& from, const void* in,
                         const TypeInfo& to, void* out) const {
  if (callRegistered(scope, from, in, to, out)) return true;
  const TypeInfo* hub = hubBetween(scope, from, to);
  if (hub == nullptr) return false;
  AnyObject middle(*hub);
  convertDirectly(scope, from, in, *hub, middle.data());
  convertDirectly(scope, *hub, middle.data(), to, out);
  return true;
}

void Scheme::convertPair(ConversionScope& scope, const TypeInfo& from, const void* in,
                         const TypeInfo& to, void* out) const {
  if (&from == &to) return detail::assignMessage(to, out, in);
  if (!convertPart(scope, from, in, to, out)) convertDirectly(scope, from, in, to, out);
}

// Converts into a fresh object. Returns false if conversions of the pair are ignored.
bool Scheme::convertWhole(const TypeInfo& from, const void* in, const TypeInfo& to,
                          void* out) const {
  if (const auto* known = findPair(from, to); known != nullptr && known->ignored) return false;
  ConversionScope scope(*this, from, to);
  convertPair(scope, from, in, to, out);
  return true;
}

void Scheme::convert(const AnyObject& in, AnyObject& out) const {
  AnyObject fresh(out.type());
  if (!convertWhole(in.type(), in.data(), out.type(), fresh.data())) return;
  fresh.setGvk(out.gvk());
  out = std::move(fresh);
}

AnyObject Scheme::convertToVersion(const AnyObject& object,
                                   std::span<const GroupVersion> targets) const {
  const TypeInfo& type = object.type();
  if (&type == &TypeOf<Unstructured>::info) {
    throw Error(
        fmt::format("converting {} to {}: an Unstructured has to be decoded into its type first",
                    object.gvk().str(), inWords(targets)));
  }
  std::vector<GroupVersionKind> kinds = objectKinds(type).kinds;
  // The object's own kind precedes other kinds of its type.
  if (const auto own = std::ranges::find(kinds, object.gvk()); own != kinds.end()) {
    std::rotate(kinds.begin(), own, own + 1);
  }
  const auto as = [&](const GroupVersionKind& gvk) {
    AnyObject same = object;
    same.setGvk(gvk);
    return same;
  };
  const std::optional<GroupVersionKind> gvk = kindIn(targets, kinds);
  if (gvk && std::ranges::find(kinds, *gvk) != kinds.end()) return as(*gvk);
  if (const auto unversioned = unversionedTypes_.find(&type);
      unversioned != unversionedTypes_.end()) {
    return as(gvk.value_or(unversioned->second));
  }
  if (!gvk) {
    throw NotRegisteredError(fmt::format("{} is not suitable for converting to \"{}\"{}",
                                         describe(type), inWords(targets), inScheme()),
                             {}, &type);
  }
  AnyObject result = newObject(*gvk);
  if (!convertWhole(type, object.data(), result.type(), result.data())) {
    return newObject(*gvk);
  }
  return result;
}

}  // namespace kube
