#include "kube/client/pod_client.h"

namespace kube {

LogStream PodClient::logs(std::string_view name, const corev1::PodLogOptions& options,
                          const std::stop_token& stop) const {
  Request request = requests().object(rest().get(), name, "log");
  // The log is plain text; a failure is a Status.
  request.options(options).accept("application/json, */*");
  return LogStream(request.stream(stop), stop);
}

void PodClient::evict(std::string_view name, const metav1::DeleteOptions& options,
                      const std::stop_token& stop) const {
  policyv1::Eviction eviction;
  eviction.metadata.name = name;
  eviction.metadata.namespace_ = namespaceName();
  eviction.deleteOptions = options;
  evict(eviction, stop);
}

void PodClient::evict(const policyv1::Eviction& eviction, const std::stop_token& stop) const {
  requests()
      .object(rest().post(), eviction.metadata.name, "eviction", eviction.metadata.namespace_)
      .body(eviction)
      .raw(stop);
}

void PodClient::evict(const policyv1beta1::Eviction& eviction, const std::stop_token& stop) const {
  requests()
      .object(rest().post(), eviction.metadata.name, "eviction", eviction.metadata.namespace_)
      .body(eviction)
      .raw(stop);
}

void PodClient::bind(const corev1::Binding& binding, const metav1::CreateOptions& options,
                     const std::stop_token& stop) const {
  requests()
      .object(rest().post(), binding.metadata.name, "binding", binding.metadata.namespace_)
      .options(options)
      .body(binding)
      .raw(stop);
}

}  // namespace kube
