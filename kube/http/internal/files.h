// Files as configuration needs them: read whole and within bounds, replaced all at once, locked
// against other programs. All failures are ConfigErrors that name the file.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/clock.h"

namespace kube::detail {

/// More is no configuration.
inline constexpr std::size_t kMaxFileBytes = 16 << 20;

std::string readFile(const std::string& path, std::size_t limit = kMaxFileBytes);

/// Nothing if there is no such file.
std::optional<std::string> findFile(const std::string& path, std::size_t limit = kMaxFileBytes);

/// When the file was written last; nothing if there is none.
std::optional<Clock::WallTime> modifiedAt(const std::string& path) noexcept;

struct ReplaceOptions {
  /// On the disk when it returns. Otherwise a crash of the machine may leave an empty file.
  bool durable = true;
  unsigned folderMode = 0777;                    // of folders that are made; less the umask
  std::optional<Clock::WallTime> modified = {};  // none: now
};

/// Writes a new file and moves it over the old one, so that a reader sees one or the other, whole.
/// A new file is its owner's alone (mode 0600), one that was there keeps its mode; missing folders
/// are made. Where `path` is a symbolic link, what it leads to is replaced.
void replaceFile(const std::string& path, std::string_view content,
                 const ReplaceOptions& options = {});

/// `<path>.lock`, kubectl's sign that it is changing a file, for as long as this lives. Waits for
/// another's to go, as long as `patience`.
class FileLock {
 public:
  FileLock(const std::string& path, Clock& clock, Clock::Duration patience);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  std::string name_;  // empty: moved from
};

/// `path`, if relative, as seen from the folder of `file`; absolute then.
std::string resolveBeside(const std::string& path, const std::string& file);

/// $HOME, or what the user database says; may be empty.
std::string homeFolder();

/// An environment variable's value; empty where it is not set.
std::string environment(const char* name);

}  // namespace kube::detail
