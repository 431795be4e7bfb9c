// The kubeconfig files of a user: found and merged by kubectl's rules. A changed entry is written
// to the file that it came from.
//
//   kube::KubeconfigFiles files;                  // $KUBECONFIG, or ~/.kube/config
//   kube::Kubeconfig merged = files.load();
//   files.modify([](kube::Kubeconfig& k) { k.contexts["dev"].namespace_ = "book"; });
//   files.setCurrentContext("dev");
//
// $KUBECONFIG may list several files, separated by colons. Of duplicate entries the first wins;
// missing files are skipped. A file that was given explicitly is used alone, and must exist to be
// read.
//
// Thread safety: const methods may be called from any thread. During a change, `<file>.lock` keeps
// other threads and programs (kubectl among them) from changing the same files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/base/clock.h"
#include "kube/rest/kubeconfig.h"

namespace kube {

class KubeconfigFiles {
 public:
  /// Uses the files of the current environment, or `path` if it is not empty.
  explicit KubeconfigFiles(std::string path = {});

  /// Returns the files that kubectl reads, the one that wins first. They need not exist.
  const std::vector<std::string>& paths() const noexcept { return paths_; }
  /// Returns whether a file was given explicitly.
  bool isExplicit() const noexcept { return explicit_; }
  /// Returns the file for new entries: the first one that exists, or else the last.
  std::string defaultPath() const;

  struct LoadOptions {
    bool resolvePaths = true;  // makes file names absolute
  };
  /// Throws ConfigError for a file that cannot be read or is malformed.
  Kubeconfig load(LoadOptions options) const;
  Kubeconfig load() const { return load(LoadOptions()); }

  struct ModifyOptions {
    Clock::Duration lockPatience =
        std::chrono::seconds{5};  // the longest wait for another program's lock
    Clock* clock = nullptr;       // null: the real clock
  };
  /// Calls `change` with the merged kubeconfig, without resolved paths, and writes the changes:
  /// each entry to the file of its `origin`, or to defaultPath() if it has none. Writes nothing if
  /// `change` throws. The files are locked meanwhile; `change` must not call this function.
  void modify(const std::function<void(Kubeconfig&)>& change, ModifyOptions options) const;
  void modify(const std::function<void(Kubeconfig&)>& change) const {
    modify(change, ModifyOptions());
  }

  /// Throws ConfigError if there is no such context. An empty name unsets the current context.
  void setCurrentContext(std::string_view name) const;

 private:
  std::vector<std::string> paths_;
  bool explicit_ = false;
};

}  // namespace kube
