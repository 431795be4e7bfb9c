#include "kube/http/internal/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "kube/base/error.h"
#include "kube/http/internal/descriptor.h"

namespace kube::detail {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const std::string& path, std::string_view doing, int error) {
  throw ConfigError(fmt::format("{}: {}: {}", path, doing, std::generic_category().message(error)));
}

template <class Call>
auto retrying(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

void makeFolder(const fs::path& folder, unsigned mode) {
  if (folder.empty() || ::mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return;
  if (errno == ENOENT && folder.has_relative_path()) {
    makeFolder(folder.parent_path(), mode);
    if (::mkdir(folder.c_str(), mode) == 0 || errno == EEXIST) return;
  }
  fail(folder.string(), "cannot make the folder", errno);
}

void makeFolderOf(const std::string& path, unsigned mode = 0777) {
  makeFolder(fs::path(path).parent_path(), mode);
}

void writeAll(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = retrying([&] { return ::write(fd, content.data(), content.size()); });
    if (n < 0) fail(path, "cannot write", errno);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

std::optional<std::string> findFile(const std::string& path, std::size_t limit) {
  const Descriptor file(retrying([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail(path, "cannot read", errno);
  }
  std::string content;
  for (std::size_t step = 8 << 10;; step *= 2) {
    const std::size_t have = content.size();
    content.resize(have + step);
    const ssize_t n = retrying([&] { return ::read(file.get(), content.data() + have, step); });
    if (n < 0) fail(path, "cannot read", errno);
    content.resize(have + static_cast<std::size_t>(n));
    if (n == 0) return content;
    if (content.size() > limit) {
      throw ConfigError(fmt::format("{}: larger than {} bytes", path, limit));
    }
  }
}

std::string readFile(const std::string& path, std::size_t limit) {
  auto content = findFile(path, limit);
  if (!content) fail(path, "cannot read", ENOENT);
  return *std::move(content);
}

namespace {

Clock::WallTime modifiedIn(const struct stat& found) {
  return Clock::WallTime{std::chrono::seconds{found.st_mtim.tv_sec} +
                         std::chrono::nanoseconds{found.st_mtim.tv_nsec}};
}

}  // namespace

std::optional<Clock::WallTime> modifiedAt(const std::string& path) noexcept {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return modifiedIn(found);
}

FileFingerprint fingerprintOf(const std::string& path) noexcept {
  struct stat found {};
  if (path.empty() || ::stat(path.c_str(), &found) != 0) return {};
  return {modifiedIn(found), found.st_size, found.st_dev, found.st_ino};
}

void replaceFile(const std::string& path, std::string_view content, const ReplaceOptions& options) {
  makeFolderOf(path, options.folderMode);
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  const std::string target = error ? path : real.string();

  std::string fresh = target + ".XXXXXX";
  Descriptor file(::mkostemp(fresh.data(), O_CLOEXEC));  // mode 0600
  if (file.get() < 0) fail(target, "cannot make a new file beside it", errno);
  try {
    struct stat old {};
    if (::stat(target.c_str(), &old) == 0) {
      // Only root can give a file to its old owner. For other users, failing is right only if the
      // file belongs to them.
      if (::fchown(file.get(), old.st_uid, old.st_gid) != 0 && old.st_uid != ::geteuid()) {
        fail(target, "cannot keep its owner", errno);
      }
      if (::fchmod(file.get(), old.st_mode & 07777) != 0)
        fail(target, "cannot keep its mode", errno);
    }
    writeAll(file.get(), content, fresh);
    if (options.modified) {
      const auto since = options.modified->time_since_epoch();
      const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
      timespec time{};
      time.tv_sec = seconds.count();
      time.tv_nsec = (since - seconds).count();
      const timespec times[] = {time, time};
      if (::futimens(file.get(), times) != 0) fail(fresh, "cannot set its time", errno);
    }
    if (options.durable && ::fsync(file.get()) != 0) fail(fresh, "cannot write", errno);
    if (!file.close()) fail(fresh, "cannot write", errno);
    if (::rename(fresh.c_str(), target.c_str()) != 0) fail(target, "cannot replace", errno);
  } catch (...) {
    ::unlink(fresh.c_str());
    throw;
  }
}

FileLock::FileLock(const std::string& path, Clock& clock, Clock::Duration patience)
    : name_(path + ".lock") {
  makeFolderOf(path);
  const Clock::TimePoint deadline = clock.deadlineAfter(patience);
  Clock::Duration wait = std::chrono::milliseconds{5};
  for (;;) {
    const Descriptor file(::open(name_.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0));
    if (file.get() >= 0) return;
    if (errno != EEXIST) fail(name_, "cannot make the lock file", errno);
    if (clock.now() >= deadline) {
      throw ConfigError(fmt::format(
          "{}: another program is changing {}; if there is none, remove this file", name_, path));
    }
    clock.sleepUntil(std::min(deadline, clock.deadlineAfter(wait)));
    wait = std::min<Clock::Duration>(wait * 2, std::chrono::milliseconds{100});
  }
}

FileLock::FileLock(FileLock&& other) noexcept : name_(std::exchange(other.name_, {})) {}

FileLock::~FileLock() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

std::string resolveBeside(const std::string& path, const std::string& file) {
  if (path.empty() || path.front() == '/') return path;
  return (fs::absolute(file).parent_path() / path).lexically_normal().string();
}

std::string homeFolder() {
  if (std::string home = environment("HOME"); !home.empty()) return home;
  std::vector<char> buffer(16 << 10);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0) return {};
  return found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace kube::detail
