// The objects that a client sees, as the source of a reflector. It does not know the objects' C++
// type, so that listing and watching is compiled once for all informers of factories.
//
// Thread safety: ClientQueries: every method may be called from any thread. ClientSource: see
// ObjectSource.
#pragma once

#include <functional>
#include <memory>

#include "kube/cache/internal/object_source.h"
#include "kube/client/resource_client.h"
#include "kube/meta/v1.h"
#include "kube/rest/api_connection.h"

namespace kube::detail {

/// The requests that list and watch. They are sent once: the reflector retries, and has to know
/// each failure.
class ClientQueries {
 public:
  using Tweak = std::function<void(metav1::ListOptions& options)>;

  /// `tweak` may change the options of every request, to narrow it down. May be empty.
  ClientQueries(const ResourceRequests& requests, Tweak tweak);

  Executor executor() const { return requests_.rest().connection()->executor(); }
  Request list(const metav1::ListOptions& options) const;
  Request watch(const metav1::ListOptions& options) const;
  /// Returns whether the server has reached `version`. Asks it for an object that does not exist:
  /// the answer has the server's current version.
  Task<bool> hasReached(const String& version) const;

 private:
  metav1::ListOptions narrowed(metav1::ListOptions options) const;

  const ResourceRequests requests_;
  const Tweak tweak_;
};

/// The version of the server's answer to a list that finds nothing; without options, its current
/// version.
Task<String> currentVersion(ResourceRequests requests, metav1::ListOptions options);

/// `make` makes objects of the type that `type` describes.
std::unique_ptr<ObjectSource> clientSource(ClientQueries queries, const TypeInfo& type,
                                           MakeObject make);

}  // namespace kube::detail
