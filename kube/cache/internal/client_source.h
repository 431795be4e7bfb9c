// What a client sees, as the source of a reflector, without the objects' C++ type: informers of a
// factory have one of these, so that what it takes to list and watch is compiled once.
//
// Thread safety: ClientQueries: every method may be called from any thread. ClientSource: see
// ObjectSource.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "kube/cache/internal/object_source.h"
#include "kube/client/resource_client.h"
#include "kube/meta/v1.h"

namespace kube::detail {

/// The requests of whoever lists and watches. They are sent once: he tries again himself, and has
/// to know what has failed.
class ClientQueries {
 public:
  using Tweak = std::function<void(metav1::ListOptions& options)>;

  /// `tweak` may change the options of every request, to narrow it down; or be none.
  ClientQueries(const ResourceRequests& requests, Tweak tweak);

  Request list(const metav1::ListOptions& options) const;
  Request watch(const metav1::ListOptions& options) const;
  /// Asks the server for an object that there is not: the answer has the version that it has come
  /// to.
  bool hasReached(const String& version, const std::stop_token& stop) const;

 private:
  metav1::ListOptions narrowed(metav1::ListOptions options) const;

  const ResourceRequests requests_;
  const Tweak tweak_;
};

/// `make` makes what `type` describes.
std::unique_ptr<ObjectSource> clientSource(ClientQueries queries, const TypeInfo& type,
                                           MakeObject make);

}  // namespace kube::detail
