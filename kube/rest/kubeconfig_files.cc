#include "kube/rest/kubeconfig_files.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "kube/base/error.h"
#include "kube/base/internal/text.h"
#include "kube/base/joined.h"
#include "kube/http/internal/files.h"

namespace kube {
namespace {

bool exists(const std::string& path) {
  struct stat unused {};
  return ::stat(path.c_str(), &unused) == 0;
}

std::optional<Kubeconfig> find(const std::string& path) {
  const auto text = detail::findFile(path);
  if (!text) return std::nullopt;
  return Kubeconfig::parse(*text, path);
}

/// The files during a change: each is read when first needed, and written at the end if it differs.
class Edits {
 public:
  Kubeconfig& file(const std::string& path) {
    auto at = files_.find(path);
    if (at == files_.end()) {
      const Kubeconfig read = find(path).value_or(Kubeconfig{});
      at = files_.emplace(path, File{read, read}).first;
    }
    return at->second.now;
  }

  void write() const {
    for (const auto& [path, file] : files_) {
      if (file.now != file.before) file.now.write(path);
    }
  }

 private:
  struct File {
    Kubeconfig before, now;
  };
  std::map<std::string, File> files_;
};

template <class Entry>
void copyChanges(const Map<Entry>& before, const Map<Entry>& after, Map<Entry> Kubeconfig::*list,
                 const std::string& defaultPath, Edits& edits) {
  const auto fileOf = [&](const Entry& entry) -> Map<Entry>& {
    return edits.file(entry.origin.empty() ? defaultPath : entry.origin.str()).*list;
  };
  for (const auto& [name, entry] : after) {
    if (!before.contains(name) || before.at(name) != entry) {
      fileOf(entry).insert_or_assign(name, entry);
    }
  }
  for (const auto& [name, entry] : before) {
    if (!after.contains(name)) fileOf(entry).erase(name);
  }
}

}  // namespace

KubeconfigFiles::KubeconfigFiles(std::string path) : explicit_(!path.empty()) {
  if (explicit_) {
    paths_.push_back(std::move(path));
    return;
  }
  const std::string list = detail::environment("KUBECONFIG");
  for (const std::string_view file : detail::split(list, ':')) {
    if (!file.empty() && std::find(paths_.begin(), paths_.end(), file) == paths_.end()) {
      paths_.emplace_back(file);
    }
  }
  if (list.empty()) paths_.push_back(detail::homeFolder() + "/.kube/config");
}

std::string KubeconfigFiles::defaultPath() const {
  for (const std::string& path : paths_) {
    if (exists(path)) return path;
  }
  return paths_.empty() ? std::string() : paths_.back();
}

Kubeconfig KubeconfigFiles::load(LoadOptions options) const {
  Kubeconfig merged;
  for (const std::string& path : paths_) {
    if (explicit_) {
      merged = Kubeconfig::read(path);
    } else if (const auto config = find(path)) {
      merged.merge(*config);
    }
  }
  if (options.resolvePaths) merged.resolvePaths();
  return merged;
}

void KubeconfigFiles::modify(const std::function<void(Kubeconfig&)>& change,
                             ModifyOptions options) const {
  if (paths_.empty()) throw ConfigError("$KUBECONFIG names no file to write to");
  // Locked in one order, so that two changes of the same files cannot wait for each other.
  std::vector<std::string> ordered = paths_;
  std::sort(ordered.begin(), ordered.end());
  std::vector<detail::FileLock> locks;
  for (const std::string& path : ordered) {
    locks.emplace_back(path, orReal(options.clock), options.lockPatience);
  }

  Kubeconfig before;
  for (const std::string& path : paths_) {
    if (const auto config = find(path)) before.merge(*config);
  }
  Kubeconfig after = before;
  change(after);

  Edits edits;
  const std::string target = defaultPath();
  copyChanges(before.clusters, after.clusters, &Kubeconfig::clusters, target, edits);
  copyChanges(before.users, after.users, &Kubeconfig::users, target, edits);
  copyChanges(before.contexts, after.contexts, &Kubeconfig::contexts, target, edits);
  if (before.preferences != after.preferences) edits.file(target).preferences = after.preferences;
  if (before.extensions != after.extensions) edits.file(target).extensions = after.extensions;

  if (after.currentContext.empty() && !before.currentContext.empty()) {
    // A current-context in any file would win now.
    for (const std::string& path : paths_) {
      if (exists(path)) edits.file(path).currentContext = {};
    }
  } else if (before.currentContext != after.currentContext) {
    // Written to the first file that exists, because an earlier file wins.
    edits.file(target).currentContext = after.currentContext;
  }
  edits.write();
}

void KubeconfigFiles::setCurrentContext(std::string_view name) const {
  modify([&](Kubeconfig& config) {
    if (!name.empty() && !config.contexts.contains(name)) {
      throw ConfigError(
          fmt::format("there is no context \"{}\" in {}", name, joined(paths_, ", ")));
    }
    config.currentContext = name;
  });
}

}  // namespace kube
