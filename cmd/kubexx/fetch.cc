#include "cmd/kubexx/fetch.h"

#include "cmd/kubexx/table_printer.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/rest/rest_client.h"

namespace kube::cmd {

Request Fetch::request(const std::string& name) const {
  Request request = rest_.forVersion(mapping_.gvr.groupVersion()).get();
  if (mapping_.scope == RestScope::Namespace) request.namespace_(selection_.namespace_);
  request.resource(mapping_.gvr.resource);
  if (!name.empty()) request.name(name);
  if (!selection_.subresource.empty()) request.subresource(selection_.subresource);
  return request;
}

Request Fetch::page(const String& token) const {
  Request request = this->request({});
  if (!selection_.labels.empty()) request.param("labelSelector", selection_.labels);
  if (!selection_.fields.empty()) request.param("fieldSelector", selection_.fields);
  if (selection_.chunkSize > 0) request.param("limit", std::to_string(selection_.chunkSize));
  if (!token.empty()) request.param("continue", token);
  return request;
}

metav1::Table Fetch::table(const std::string& name) const {
  Request request = this->request(name);
  request.accept(std::string(kAcceptTable));
  if (selection_.wholeObjects) request.param("includeObject", "Object");
  return tableOf(request.raw());
}

metav1::Table Fetch::tables() const {
  metav1::Table all;
  String token;
  do {
    Request request = page(token);
    request.accept(std::string(kAcceptTable));
    if (selection_.wholeObjects) request.param("includeObject", "Object");
    metav1::Table next = tableOf(request.raw());
    token = next.metadata.continue_;
    all.metadata = next.metadata;
    if (all.columnDefinitions.empty()) all.columnDefinitions = next.columnDefinitions;
    if (all.rows.empty()) {
      all.rows = std::move(next.rows);
    } else {
      for (metav1::TableRow& row : next.rows) all.rows.push_back(std::move(row));
    }
  } while (!token.empty());
  return all;
}

Unstructured Fetch::object(const std::string& name) const {
  return request(name).into<Unstructured>();
}

String Fetch::objects(std::vector<Unstructured>& objects) const {
  String token;
  String version;
  do {
    const UnstructuredList list =
        parseUnstructuredList(page(token).accept("application/json").raw());
    token = list.continue_();
    version = list.resourceVersion();
    objects.insert(objects.end(), list.items.begin(), list.items.end());
  } while (!token.empty());
  return version;
}

Request Fetch::watch(const std::string& name, const String& from) const {
  Request request = this->request({});
  if (!selection_.labels.empty()) request.param("labelSelector", selection_.labels);
  if (!name.empty()) {
    request.param("fieldSelector", "metadata.name=" + name);
  } else if (!selection_.fields.empty()) {
    request.param("fieldSelector", selection_.fields);
  }
  if (!from.empty()) request.param("resourceVersion", from);
  return request;
}

}  // namespace kube::cmd
