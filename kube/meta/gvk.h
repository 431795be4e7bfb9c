// Names of API types: group and version, with a kind (GroupVersionKind) or a resource
// (GroupVersionResource), and the forms without a version.
//
// Plain aggregates of strings, ordered and hashed by their fields. Reading and printing follow
// apimachinery's schema package: "apps/v1", "Deployment.apps", "apps/v1, Kind=Deployment". The core
// group is "".
//
// Thread safety: that of String.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kube/base/internal/text_formatter.h"
#include "kube/base/string.h"

namespace kube {

struct GroupVersionKind;
struct GroupVersionResource;

struct GroupVersion {
  String group = {};
  String version = {};

  /// Reads "apps/v1", or "v1" for the core group; "" and "/" are empty. Throws DecodeError if there
  /// is more than one slash.
  static GroupVersion parse(std::string_view text);
  static std::optional<GroupVersion> tryParse(std::string_view text);

  bool empty() const noexcept { return group.empty() && version.empty(); }
  GroupVersionKind withKind(String kind) const;
  GroupVersionResource withResource(String resource) const;
  /// An object's apiVersion: "apps/v1", "v1".
  std::string str() const;

  auto operator<=>(const GroupVersion&) const = default;
};

struct GroupKind {
  String group = {};
  String kind = {};

  /// Reads "Deployment.apps", or "Pod" for the core group.
  static GroupKind parse(std::string_view text);

  bool empty() const noexcept { return group.empty() && kind.empty(); }
  GroupVersionKind withVersion(String version) const;
  std::string str() const;

  auto operator<=>(const GroupKind&) const = default;
};

struct GroupResource {
  String group = {};
  String resource = {};

  /// Reads "deployments.apps", or "pods" for the core group.
  static GroupResource parse(std::string_view text);

  bool empty() const noexcept { return group.empty() && resource.empty(); }
  GroupVersionResource withVersion(String version) const;
  std::string str() const;

  auto operator<=>(const GroupResource&) const = default;
};

struct GroupVersionKind {
  String group = {};
  String version = {};
  String kind = {};

  /// Makes it from an object's two fields. An invalid apiVersion leaves group and version empty.
  static GroupVersionKind fromApiVersionAndKind(std::string_view apiVersion, String kind);
  /// Returns the two fields; both are "" if this is empty.
  std::pair<String, String> toApiVersionAndKind() const;

  bool empty() const noexcept { return group.empty() && version.empty() && kind.empty(); }
  GroupVersion groupVersion() const { return {group, version}; }
  GroupKind groupKind() const { return {group, kind}; }
  /// "apps/v1, Kind=Deployment"
  std::string str() const;

  auto operator<=>(const GroupVersionKind&) const = default;
};

struct GroupVersionResource {
  String group = {};
  String version = {};
  String resource = {};

  bool empty() const noexcept { return group.empty() && version.empty() && resource.empty(); }
  GroupVersion groupVersion() const { return {group, version}; }
  GroupResource groupResource() const { return {group, resource}; }
  /// "apps/v1, Resource=deployments"
  std::string str() const;

  auto operator<=>(const GroupVersionResource&) const = default;
};

/// Returns the two possible meanings of "deployments.v1.apps": with a version, if there are at
/// least two dots, and without. A caller that knows the server's groups can decide.
std::pair<std::optional<GroupVersionResource>, GroupResource> parseResourceArg(
    std::string_view text);
/// The same for "Deployment.v1.apps".
std::pair<std::optional<GroupVersionKind>, GroupKind> parseKindArg(std::string_view text);

/// Splits "pods/log" into the resource "pods" and its subresource "log", as in RBAC rules and
/// `kubectl auth can-i`. Without a slash the subresource is "".
std::pair<std::string_view, std::string_view> splitSubresource(std::string_view text) noexcept;

/// Orders versions by a client's preference: v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > anything
/// else. Of other versions, the alphabetically first is the greatest.
std::weak_ordering compareKubeAwareVersions(std::string_view a, std::string_view b) noexcept;

namespace detail {
template <class T>
concept ApiTypeName =
    std::same_as<T, GroupVersion> || std::same_as<T, GroupKind> || std::same_as<T, GroupResource> ||
    std::same_as<T, GroupVersionKind> || std::same_as<T, GroupVersionResource>;

template <std::same_as<String>... Fields>
std::size_t hashStrings(const Fields&... fields) noexcept {
  std::size_t hash = 0;
  // The order of fields must count, so that (a, b) and (b, a) differ.
  ((hash = (hash ^ std::hash<String>{}(fields)) * 0x9E3779B97F4A7C15U), ...);
  return hash ^ (hash >> 32);
}
}  // namespace detail

std::ostream& operator<<(std::ostream& out, const GroupVersion& name);
std::ostream& operator<<(std::ostream& out, const GroupKind& name);
std::ostream& operator<<(std::ostream& out, const GroupResource& name);
std::ostream& operator<<(std::ostream& out, const GroupVersionKind& name);
std::ostream& operator<<(std::ostream& out, const GroupVersionResource& name);

}  // namespace kube

template <>
struct std::hash<kube::GroupVersion> {
  std::size_t operator()(const kube::GroupVersion& name) const noexcept {
    return kube::detail::hashStrings(name.group, name.version);
  }
};
template <>
struct std::hash<kube::GroupKind> {
  std::size_t operator()(const kube::GroupKind& name) const noexcept {
    return kube::detail::hashStrings(name.group, name.kind);
  }
};
template <>
struct std::hash<kube::GroupResource> {
  std::size_t operator()(const kube::GroupResource& name) const noexcept {
    return kube::detail::hashStrings(name.group, name.resource);
  }
};
template <>
struct std::hash<kube::GroupVersionKind> {
  std::size_t operator()(const kube::GroupVersionKind& name) const noexcept {
    return kube::detail::hashStrings(name.group, name.version, name.kind);
  }
};
template <>
struct std::hash<kube::GroupVersionResource> {
  std::size_t operator()(const kube::GroupVersionResource& name) const noexcept {
    return kube::detail::hashStrings(name.group, name.version, name.resource);
  }
};

template <kube::detail::ApiTypeName T>
struct fmt::formatter<T> : kube::detail::TextFormatter {
  auto format(const T& name, fmt::format_context& context) const {
    return text(name.str(), context);
  }
};
