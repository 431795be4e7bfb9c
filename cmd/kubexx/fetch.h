// Reads the objects of a command, as objects or as the server's tables.
//
// Lists are read in pages, as by kubectl. Errors: those of Request.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "cmd/kubexx/resources.h"
#include "kube/meta/unstructured.h"
#include "kube/meta/v1.h"
#include "kube/rest/request.h"

namespace kube {
class RestClient;
}

namespace kube::cmd {

/// A selection of a kind's objects.
struct Selection {
  std::string namespace_ = {};  // empty: all namespaces
  std::string labels = {}, fields = {};
  std::int64_t chunkSize = 500;  // 0: no pages
  std::string subresource = {};
  bool wholeObjects = false;  // tables contain the whole objects
};

class Fetch {
 public:
  Fetch(const RestClient& rest, const RestMapping& mapping, Selection selection)
      : rest_(rest), mapping_(mapping), selection_(std::move(selection)) {}

  metav1::Table table(const std::string& name) const;
  /// Returns all pages as one table. An empty table has its columns, too.
  metav1::Table tables() const;
  Unstructured object(const std::string& name) const;
  /// Adds the objects to `objects`. Returns the list's resourceVersion.
  String objects(std::vector<Unstructured>& objects) const;

  /// The request for a watch of the object `name`, or of all if it is empty.
  Request watch(const std::string& name, const String& from) const;

  const RestMapping& mapping() const noexcept { return mapping_; }

 private:
  Request request(const std::string& name) const;
  Request page(const String& token) const;

  const RestClient& rest_;
  const RestMapping mapping_;
  const Selection selection_;
};

}  // namespace kube::cmd
