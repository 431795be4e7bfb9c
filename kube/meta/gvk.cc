#include "kube/meta/gvk.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <ostream>

#include "kube/base/error.h"

namespace kube {
namespace {

/// Splits "head.tail" at the first dot; the tail is "" without one.
std::pair<std::string_view, std::string_view> cutAtDot(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {text, {}};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

std::string dotted(const String& name, const String& group) {
  return group.empty() ? name.str() : fmt::format("{}.{}", name, group);
}

struct KubeVersion {
  enum class Stage { Alpha, Beta, Ga };
  Stage stage = Stage::Ga;
  std::int64_t major = 0;
  std::int64_t minor = 0;

  auto operator<=>(const KubeVersion&) const = default;
};

/// Removes the digits at the front of `text`.
bool takeNumber(std::string_view& text, std::int64_t& number) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;  // from_chars would take a sign
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return error == std::errc();
}

bool takeWord(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// Reads v1, v1beta2, v1alpha1; nothing for any other text.
std::optional<KubeVersion> readKubeVersion(std::string_view text) {
  KubeVersion version;
  if (!takeWord(text, "v") || !takeNumber(text, version.major)) return std::nullopt;
  if (text.empty()) return version;
  if (takeWord(text, "alpha")) {
    version.stage = KubeVersion::Stage::Alpha;
  } else if (takeWord(text, "beta")) {
    version.stage = KubeVersion::Stage::Beta;
  } else {
    return std::nullopt;
  }
  if (!takeNumber(text, version.minor) || !text.empty()) return std::nullopt;
  return version;
}

}  // namespace

std::optional<GroupVersion> GroupVersion::tryParse(std::string_view text) {
  if (text.empty() || text == "/") return GroupVersion{};
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return GroupVersion{{}, text};
  if (text.find('/', slash + 1) != std::string_view::npos) return std::nullopt;
  return GroupVersion{text.substr(0, slash), text.substr(slash + 1)};
}

GroupVersion GroupVersion::parse(std::string_view text) {
  if (std::optional<GroupVersion> parsed = tryParse(text)) return *std::move(parsed);
  throw DecodeError({}, fmt::format("unexpected GroupVersion string: {}", text));
}

GroupVersionKind GroupVersion::withKind(String kind) const {
  return {group, version, std::move(kind)};
}

GroupVersionResource GroupVersion::withResource(String resource) const {
  return {group, version, std::move(resource)};
}

std::string GroupVersion::str() const {
  return group.empty() ? version.str() : fmt::format("{}/{}", group, version);
}

GroupKind GroupKind::parse(std::string_view text) {
  const auto [kind, group] = cutAtDot(text);
  return {group, kind};
}

GroupVersionKind GroupKind::withVersion(String version) const {
  return {group, std::move(version), kind};
}

std::string GroupKind::str() const { return dotted(kind, group); }

GroupResource GroupResource::parse(std::string_view text) {
  const auto [resource, group] = cutAtDot(text);
  return {group, resource};
}

GroupVersionResource GroupResource::withVersion(String version) const {
  return {group, std::move(version), resource};
}

std::string GroupResource::str() const { return dotted(resource, group); }

GroupVersionKind GroupVersionKind::fromApiVersionAndKind(std::string_view apiVersion, String kind) {
  return GroupVersion::tryParse(apiVersion).value_or(GroupVersion{}).withKind(std::move(kind));
}

std::pair<String, String> GroupVersionKind::toApiVersionAndKind() const {
  // For the core group, the apiVersion is the version: no new string is needed.
  return {group.empty() ? version : String(groupVersion().str()), kind};
}

std::string GroupVersionKind::str() const {
  return fmt::format("{}/{}, Kind={}", group, version, kind);
}

std::string GroupVersionResource::str() const {
  return fmt::format("{}/{}, Resource={}", group, version, resource);
}

std::pair<std::optional<GroupVersionResource>, GroupResource> parseResourceArg(
    std::string_view text) {
  const auto [kindArg, groupKind] = parseKindArg(text);
  std::optional<GroupVersionResource> full;
  if (kindArg) full = kindArg->groupVersion().withResource(kindArg->kind);
  return {std::move(full), {groupKind.group, groupKind.kind}};
}

std::pair<std::optional<GroupVersionKind>, GroupKind> parseKindArg(std::string_view text) {
  const auto [kind, rest] = cutAtDot(text);
  std::optional<GroupVersionKind> full;
  if (rest.find('.') != std::string_view::npos) {
    const auto [version, group] = cutAtDot(rest);
    full = GroupVersionKind{group, version, kind};
  }
  return {std::move(full), {rest, kind}};
}

std::pair<std::string_view, std::string_view> splitSubresource(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {text, {}};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

std::weak_ordering compareKubeAwareVersions(std::string_view a, std::string_view b) noexcept {
  const std::optional<KubeVersion> left = readKubeVersion(a);
  const std::optional<KubeVersion> right = readKubeVersion(b);
  if (!left && !right) return b <=> a;
  return left <=> right;  // an unknown version is less than any other
}

std::ostream& operator<<(std::ostream& out, const GroupVersion& name) { return out << name.str(); }
std::ostream& operator<<(std::ostream& out, const GroupKind& name) { return out << name.str(); }
std::ostream& operator<<(std::ostream& out, const GroupResource& name) { return out << name.str(); }
std::ostream& operator<<(std::ostream& out, const GroupVersionKind& name) {
  return out << name.str();
}
std::ostream& operator<<(std::ostream& out, const GroupVersionResource& name) {
  return out << name.str();
}

}  // namespace kube
