// Reading the objects that a command is about, as objects or as the server's tables.
//
// Lists come in pages, as kubectl asks for them. Errors: what Request throws.
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

/// Which objects of a kind.
struct Selection {
  std::string namespace_ = {};  // empty: all of them
  std::string labels = {}, fields = {};
  std::int64_t chunkSize = 500;  // 0: all at once
  std::string subresource = {};
  bool wholeObjects = false;  // tables with the objects in them
};

class Fetch {
 public:
  Fetch(const RestClient& rest, const RestMapping& mapping, Selection selection)
      : rest_(rest), mapping_(mapping), selection_(std::move(selection)) {}

  metav1::Table table(const std::string& name) const;
  /// All pages as one. An empty one has its columns.
  metav1::Table tables() const;
  Unstructured object(const std::string& name) const;
  /// Adds them to `objects`. Returns the version that they are of.
  String objects(std::vector<Unstructured>& objects) const;

  /// For a watch: of one object, or of all.
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
