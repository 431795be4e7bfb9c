// The resources that an API server serves: the input of its discovery and OpenAPI documents.
//
//   std::vector<ServedResource> served = builtInResources();
//   served.push_back({.group = "samplecrd.k8s.io", .version = "v1", .kind = "Network",
//                     .plural = "networks", .singular = "network", .listKind = "NetworkList",
//                     .namespaced = true, .verbs = allVerbs(), .schema = schemaOf(crd)});
//   std::string body = toJson(apiResourceList(served, {"samplecrd.k8s.io", "v1"}));
//
// Thread safety: that of plain values.
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
  GroupVersionKind kind = {};  // the kind of its body
  List<String> verbs = {};
};

/// A resource in one version.
struct ServedResource {
  String group = {}, version = {}, kind = {};
  String plural = {}, singular = {}, listKind = {};
  bool namespaced = false;
  List<String> verbs = {};  // sorted, as all lists of verbs
  List<String> shortNames = {};
  List<String> categories = {};
  List<ServedSubresource> subresources = {};
  String storageVersionHash = {};

  /// The schema of the objects: a described type, or for a custom resource a JSON schema, which may
  /// be absent to allow any object.
  const TypeInfo* type = nullptr;
  Shared<apiextensionsv1::JSONSchemaProps> schema = {};

  GroupVersion groupVersion() const { return {group, version}; }
  GroupVersionKind gvk() const { return {group, version, kind}; }
};

/// create, delete, deletecollection, get, list, patch, update, watch.
List<String> allVerbs();

/// All built-in resources that current releases serve, except for metrics.k8s.io, which is an
/// extension.
std::vector<ServedResource> builtInResources();

/// A group and its versions, the preferred one first.
struct ServedGroup {
  String name;
  std::vector<String> versions;
};

/// The groups in kube-apiserver's order: built-in ones by priority, with the core group first, then
/// others by name; versions by maturity and number.
std::vector<ServedGroup> groupsOf(std::span<const ServedResource> served);

}  // namespace kube::apiserver
