// The kubeconfig files of a user: the ones kubectl would take, merged by its rules, and changed
// where the changed entry came from.
//
//   kube::KubeconfigFiles files;                  // $KUBECONFIG, or ~/.kube/config
//   kube::Kubeconfig merged = files.load();
//   files.modify([](kube::Kubeconfig& k) { k.contexts["dev"].namespace_ = "book"; });
//   files.setCurrentContext("dev");
//
// In $KUBECONFIG there may be several files, separated by colons. Of what is in more than one, the
// first wins, entry by entry; those that do not exist are passed over. A file that was asked for by
// name is taken alone, and must exist to be read.
//
// Thread safety: const methods may be called from any thread. While files are changed,
// `<file>.lock` keeps other threads and programs (kubectl among them) from doing the same.
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
  /// The files of the environment as it is now, or `path` if it is not empty.
  explicit KubeconfigFiles(std::string path = {});

  /// Where kubectl looks, first the one that wins; they need not exist.
  const std::vector<std::string>& paths() const noexcept { return paths_; }
  /// Whether one file was asked for by name.
  bool isExplicit() const noexcept { return explicit_; }
  /// Where new entries go: the first file that exists, or else the last.
  std::string defaultPath() const;

  struct LoadOptions {
    bool resolvePaths = true;  // makes file names in it absolute
  };
  /// Throws ConfigError for a file that cannot be read or is malformed.
  Kubeconfig load(LoadOptions options) const;
  Kubeconfig load() const { return load(LoadOptions()); }

  struct ModifyOptions {
    Clock::Duration lockPatience = std::chrono::seconds{5};  // how long to wait for another's lock
    Clock* clock = nullptr;                                  // the real one if null
  };
  /// Calls `change` with what load() gives, file names as they are written, and writes what has
  /// changed: each entry to the file of its `origin`, or to defaultPath() if it has none. Nothing
  /// is written if `change` throws. Locks the files meanwhile; `change` must not call this again.
  void modify(const std::function<void(Kubeconfig&)>& change, ModifyOptions options) const;
  void modify(const std::function<void(Kubeconfig&)>& change) const {
    modify(change, ModifyOptions());
  }

  /// Throws ConfigError if there is no such context; an empty name unsets it.
  void setCurrentContext(std::string_view name) const;

 private:
  std::vector<std::string> paths_;
  bool explicit_ = false;
};

}  // namespace kube
