// A server with discovery documents, in each of the forms that servers use, for the tests of this
// folder.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>

#include "kube/codec/json.h"
#include "kube/meta/api_error.h"
#include "kube/testing/scripted_server.h"

namespace kube {

inline constexpr const char* kCoreDocument = R"({
  "kind": "APIVersions", "versions": ["v1"],
  "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "10.0.0.1:6443"}]})";
inline constexpr const char* kGroupsDocument = R"({
  "kind": "APIGroupList", "apiVersion": "v1", "groups": [
    {"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}],
     "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}},
    {"name": "batch", "versions": [{"groupVersion": "batch/v1", "version": "v1"},
                                   {"groupVersion": "batch/v1beta1", "version": "v1beta1"}],
     "preferredVersion": {"groupVersion": "batch/v1", "version": "v1"}}]})";
inline constexpr const char* kCoreResources = R"({
  "kind": "APIResourceList", "groupVersion": "v1", "resources": [
    {"name": "configmaps", "singularName": "", "namespaced": true, "kind": "ConfigMap",
     "verbs": ["create", "delete", "get", "list"], "shortNames": ["cm"],
     "storageVersionHash": "qFsyl6wFWjQ="},
    {"name": "namespaces", "singularName": "", "namespaced": false, "kind": "Namespace",
     "verbs": ["create", "get", "list"], "shortNames": ["ns"]},
    {"name": "namespaces/status", "singularName": "", "namespaced": false, "kind": "Namespace",
     "verbs": ["get"]},
    {"name": "pods", "singularName": "", "namespaced": true, "kind": "Pod",
     "verbs": ["create", "get", "list"], "shortNames": ["po"], "categories": ["all"]}]})";
inline constexpr const char* kAppsResources = R"({
  "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "apps/v1", "resources": [
    {"name": "deployments", "singularName": "", "namespaced": true, "kind": "Deployment",
     "verbs": ["create", "get", "list"], "shortNames": ["deploy"], "categories": ["all"]},
    {"name": "deployments/scale", "singularName": "", "namespaced": true, "group": "autoscaling",
     "version": "v1", "kind": "Scale", "verbs": ["get", "patch", "update"]}]})";
inline constexpr const char* kBatchResources = R"({
  "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "batch/v1", "resources": [
    {"name": "jobs", "singularName": "", "namespaced": true, "kind": "Job",
     "verbs": ["create", "get", "list"], "categories": ["all"]}]})";
inline constexpr const char* kBatchBetaResources = R"({
  "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "batch/v1beta1", "resources": [
    {"name": "jobs", "singularName": "", "namespaced": true, "kind": "Job", "verbs": ["get"]},
    {"name": "cronjobs", "singularName": "", "namespaced": true, "kind": "CronJob",
     "verbs": ["create", "get", "list"], "shortNames": ["cj"], "categories": ["all"]}]})";

/// The same documents in the form of servers since 1.26. VERSION stands for that of the document.
inline constexpr const char* kCoreAggregated = R"({
  "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/VERSION", "metadata": {},
  "items": [{"metadata": {"creationTimestamp": null}, "versions": [{"version": "v1", "resources": [
    {"resource": "configmaps", "responseKind": {"group": "", "version": "", "kind": "ConfigMap"},
     "scope": "Namespaced", "singularResource": "configmap",
     "verbs": ["create", "delete", "get", "list"], "shortNames": ["cm"]},
    {"resource": "namespaces", "responseKind": {"group": "", "version": "", "kind": "Namespace"},
     "scope": "Cluster", "singularResource": "namespace", "verbs": ["create", "get", "list"],
     "shortNames": ["ns"],
     "subresources": [{"subresource": "status", "verbs": ["get"],
                       "responseKind": {"group": "", "version": "", "kind": "Namespace"}}]},
    {"resource": "pods", "responseKind": {"group": "", "version": "", "kind": "Pod"},
     "scope": "Namespaced", "singularResource": "pod", "verbs": ["create", "get", "list"],
     "shortNames": ["po"], "categories": ["all"]}
  ], "freshness": "Current"}]}]})";
inline constexpr const char* kGroupsAggregated = R"({
  "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/VERSION", "metadata": {},
  "items": [
   {"metadata": {"name": "apps", "creationTimestamp": null}, "versions": [
     {"version": "v1", "freshness": "Current", "resources": [
      {"resource": "deployments",
       "responseKind": {"group": "", "version": "", "kind": "Deployment"},
       "scope": "Namespaced", "singularResource": "deployment",
       "verbs": ["create", "get", "list"], "shortNames": ["deploy"], "categories": ["all"],
       "subresources": [{"subresource": "scale", "verbs": ["get", "patch", "update"],
         "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}]}]}]},
   {"metadata": {"name": "metrics.k8s.io", "creationTimestamp": null}, "versions": [
     {"version": "v1beta1", "freshness": "Stale"}]},
   {"metadata": {"name": "batch", "creationTimestamp": null}, "versions": [
     {"version": "v1", "freshness": "Current", "resources": [
      {"resource": "jobs", "responseKind": {"group": "", "version": "", "kind": "Job"},
       "scope": "Namespaced", "singularResource": "job", "verbs": ["create", "get", "list"],
       "categories": ["all"]},
      {"resource": "headless", "scope": "Cluster", "singularResource": "", "verbs": ["get"],
       "subresources": [{"subresource": "log", "verbs": ["get"],
         "responseKind": {"group": "", "version": "", "kind": "Job"}},
        {"subresource": "exec", "verbs": ["get"], "responseKind": null}]}]},
     {"version": "v1beta1", "freshness": "Stale", "resources": []}]}]})";

inline std::string ofVersion(std::string document, std::string_view version) {
  return document.replace(document.find("VERSION"), 7, version);
}

/// Must be set up before the first request.
class DiscoveryServer {
 public:
  enum class Style { Legacy, V2, V2Beta1 };

  explicit DiscoveryServer(Style style = Style::Legacy)
      : server_([this](const ServerRequest& request) { return answer(request); }) {
    documents_ = {{"/api/v1", kCoreResources},
                  {"/apis/apps/v1", kAppsResources},
                  {"/apis/batch/v1", kBatchResources},
                  {"/apis/batch/v1beta1", kBatchBetaResources}};
    if (style == Style::Legacy) {
      documents_["/api"] = kCoreDocument;
      documents_["/apis"] = kGroupsDocument;
      return;
    }
    version_ = style == Style::V2 ? "v2" : "v2beta1";
    documents_["/api"] = ofVersion(kCoreAggregated, version_);
    documents_["/apis"] = ofVersion(kGroupsAggregated, version_);
  }

  /// Sets the body of the answer for a path; an empty body means 404.
  void set(std::string path, std::string body) {
    const std::lock_guard lock(mutex_);
    documents_[path] = std::move(body);
    statuses_.erase(path);
  }
  /// Makes the next `times` requests for this path fail.
  void fail(std::string path, int status, int times = 1000) {
    const std::lock_guard lock(mutex_);
    statuses_[path] = {status, times};
  }

  Config config() const { return server_.config(); }
  /// Returns the paths of the requests so far.
  std::vector<std::string> asked() const {
    std::vector<std::string> paths;
    for (const ServerRequest& request : server_.requests()) paths.push_back(pathOf(request));
    return paths;
  }
  std::size_t askedFor(std::string_view path) const {
    std::size_t times = 0;
    for (const std::string& found : asked()) times += found == path;
    return times;
  }
  std::vector<ServerRequest> requests() const { return server_.requests(); }

  /// Called with every request, before it is answered.
  std::function<void(const ServerRequest&)> before;
  /// Answers requests for paths without a document.
  std::function<ServerResponse(const ServerRequest&)> otherwise;

 private:
  struct Failing {
    int status = 0;
    int times = 0;
  };

  static std::string pathOf(const ServerRequest& request) {
    return request.target.substr(0, request.target.find('?'));
  }

  ServerResponse answer(const ServerRequest& request) {
    if (before) before(request);
    const std::string path = pathOf(request);
    std::unique_lock lock(mutex_);
    if (const auto failing = statuses_.find(path);
        failing != statuses_.end() && failing->second.times > 0) {
      --failing->second.times;
      return {.status = failing->second.status, .body = "no"};
    }
    std::string type = "application/json";
    if (!version_.empty() && (path == "/api" || path == "/apis")) {
      type += ";g=apidiscovery.k8s.io;v=" + version_ + ";as=APIGroupDiscoveryList";
    }
    if (const auto document = documents_.find(path); document != documents_.end()) {
      if (!document->second.empty()) {
        return {.headers = {{"Content-Type", type}}, .body = document->second};
      }
    } else if (otherwise) {
      lock.unlock();
      return otherwise(request);
    }
    return {.status = 404, .body = "404 page not found"};
  }

  std::mutex mutex_;
  std::string version_;
  std::map<std::string, std::string> documents_;
  std::map<std::string, Failing> statuses_;
  ScriptedServer server_;
};

}  // namespace kube
