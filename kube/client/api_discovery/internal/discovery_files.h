// The answers of discovery in files, for programs that come and go: kubectl's, which keeps them
// under ~/.kube/cache/discovery, and this library's share them.
//
//   FOLDER/servergroups.json
//   FOLDER/v1/serverresources.json
//   FOLDER/apps/v1/serverresources.json
//
// For source files of this folder; the public face is
// kube/client/api_discovery/cached_discovery_client.h. A file that is too old, broken, or about
// something else is as good as none. Files are replaced all at once, so that a reader sees an old
// or a new one. Where nothing can be written, nothing is.
//
// Any thread may call.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/clock.h"
#include "kube/meta/gvk.h"
#include "kube/meta/v1.h"

namespace kube::detail {

class DiscoveryFiles {
 public:
  /// `ttl` is how long after it was written a file is of use. The clock must outlive this.
  DiscoveryFiles(std::string folder, Clock::Duration ttl, Clock& clock);

  template <class T>
  struct Aged {
    T value;
    Clock::Duration age;
  };
  std::optional<Aged<metav1::APIGroupList>> groups() const;
  std::optional<Aged<metav1::APIResourceList>> resources(const GroupVersion& version) const;

  // What is empty is not kept: it is more likely a server's bad moment than the truth.
  void write(const metav1::APIGroupList& groups) const;
  void write(const GroupVersion& version, const metav1::APIResourceList& resources) const;

 private:
  template <class T>
  std::optional<Aged<T>> read(const std::string& path) const;
  void write(const std::string& path, const std::string& content) const;
  std::string pathOf(const GroupVersion& version) const;

  const std::string folder_;
  const Clock::Duration ttl_;
  Clock& clock_;
  mutable std::atomic<bool> writable_ = true;
};

}  // namespace kube::detail
