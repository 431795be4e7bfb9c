// Files of configuration: read whole and within bounds, replaced atomically, locked against other
// programs. All failures are ConfigErrors that name the file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kube/base/clock.h"

namespace kube::detail {

/// The limit of a file's size.
inline constexpr std::size_t kMaxFileBytes = 16 << 20;

std::string readFile(const std::string& path, std::size_t limit = kMaxFileBytes);

/// Returns nothing if there is no such file.
std::optional<std::string> findFile(const std::string& path, std::size_t limit = kMaxFileBytes);

/// Returns the time of the last modification; nothing if there is no such file.
std::optional<Clock::WallTime> modifiedAt(const std::string& path) noexcept;

/// Differs after a file was changed or replaced.
struct FileFingerprint {
  Clock::WallTime modified{};
  std::int64_t size = 0;
  std::uint64_t device = 0, inode = 0;
  bool operator==(const FileFingerprint&) const = default;
};
/// Returns an empty one if the path is empty, or there is no such file.
FileFingerprint fingerprintOf(const std::string& path) noexcept;

struct ReplaceOptions {
  /// Waits until the file is on the disk. Without that, a crash of the machine may leave an empty
  /// file.
  bool durable = true;
  unsigned folderMode = 0777;                    // of new folders; without the umask's bits
  std::optional<Clock::WallTime> modified = {};  // none: now
};

/// Writes a new file and renames it over the old one, so that a reader sees one of both, whole. A
/// new file has mode 0600, a replaced one keeps its mode. Missing folders are created. If `path` is
/// a symbolic link, its target is replaced.
void replaceFile(const std::string& path, std::string_view content,
                 const ReplaceOptions& options = {});

/// Creates `<path>.lock`, by which kubectl marks that it changes a file, and removes it when
/// destroyed. Waits for the lock of another program for `patience`.
class FileLock {
 public:
  FileLock(const std::string& path, Clock& clock, Clock::Duration patience);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  std::string name_;  // empty: moved from
};

/// Returns an absolute path: a relative `path` is relative to the folder of `file`.
std::string resolveBeside(const std::string& path, const std::string& file);

/// Returns $HOME, or the home folder in the user database; may be empty.
std::string homeFolder();

/// Returns the value of an environment variable; empty if it is not set.
std::string environment(const char* name);

}  // namespace kube::detail
