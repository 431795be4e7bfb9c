// Answers of discovery in files, for programs that run for a short time. kubectl and this library
// share the files, under ~/.kube/cache/discovery.
//
//   FOLDER/servergroups.json
//   FOLDER/v1/serverresources.json
//   FOLDER/apps/v1/serverresources.json
//
// For source files of this folder; the public face is
// kube/client/api_discovery/cached_discovery_client.h. A file that is too old, broken, or about
// another version counts as missing. A file is replaced in one step, so that a reader sees the old
// or the new content. After a write has failed, nothing more is written.
//
// Thread safety: every method may be called from any thread.
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
  /// `ttl` is the age at which a file expires. The clock must outlive this object.
  DiscoveryFiles(std::string folder, Clock::Duration ttl, Clock& clock);

  template <class T>
  struct Aged {
    T value;
    Clock::Duration age;
  };
  std::optional<Aged<metav1::APIGroupList>> groups() const;
  std::optional<Aged<metav1::APIResourceList>> resources(const GroupVersion& version) const;

  // Empty answers are not written: they are more likely a temporary failure of the server than the
  // truth.
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
