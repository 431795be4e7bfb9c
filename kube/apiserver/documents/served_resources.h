// What an API server serves: the input of its discovery and OpenAPI documents.
//
//   std::vector<ServedResource> served = builtInResources();
//   served.push_back({.group = "samplecrd.k8s.io", .version = "v1", .kind = "Network",
//                     .plural = "networks", .singular = "network", .listKind = "NetworkList",
//                     .namespaced = true, .verbs = allVerbs(), .schema = schemaOf(crd)});
//   std::string body = toJson(apiResourceList(served, {"samplecrd.k8s.io", "v1"}));
//
// Thread safety: as any C++ value.
#pragma once

#include <span>
#include <vector>

#include "kube/api/apiextensions/v1.h"
#include "kube/base/list.h"
#include "kube/base/shared.h"
#include "kube/base/string.h"
#include "kube/meta/gvk.h"
#include "kube/meta/type_info.h"

namespace kube::apiserver {

struct ServedSubresource {
  String name = {};            // "status"
  GroupVersionKind kind = {};  // of its body
  List<String> verbs = {};
};

/// A resource in one version.
struct ServedResource {
  String group = {}, version = {}, kind = {};
  String plural = {}, singular = {}, listKind = {};
  bool namespaced = false;
  List<String> verbs = {};  // in alphabetical order, as all lists of verbs
  List<String> shortNames = {};
  List<String> categories = {};
  List<ServedSubresource> subresources = {};
  String storageVersionHash = {};

  /// What its objects are: a described type, or for a custom resource a schema (which may be
  /// absent: anything).
  const TypeInfo* type = nullptr;
  Shared<apiextensionsv1::JSONSchemaProps> schema = {};

  GroupVersion groupVersion() const { return {group, version}; }
  GroupVersionKind gvk() const { return {group, version, kind}; }
};

/// create, delete, deletecollection, get, list, patch, update, watch.
List<String> allVerbs();

/// All built-in resources that releases of today serve, but for metrics.k8s.io, which is an
/// extension.
std::vector<ServedResource> builtInResources();

/// A group and its versions, the one that clients should use first.
struct ServedGroup {
  String name;
  std::vector<String> versions;
};

/// In kube-apiserver's order: built-in groups by their priority, the core group first, then others
/// by name; versions by maturity and number.
std::vector<ServedGroup> groupsOf(std::span<const ServedResource> served);

}  // namespace kube::apiserver
