#include "kube/client/pods/pod_copy.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "kube/base/internal/text.h"
#include "kube/base/internal/thread_tree.h"
#include "kube/client/pods/internal/tar.h"
#include "kube/http/internal/descriptor.h"

namespace kube {

namespace {

namespace fs = std::filesystem;
using detail::Descriptor;
using detail::TarEntry;

constexpr std::size_t kFilePiece = 64 << 10;
constexpr std::size_t kMaxComplaint = 16 << 10;  // of tar's messages

[[noreturn]] void failed(const fs::path& path, std::string_view doing) {
  const int error = errno;
  throw Error(fmt::format("{}: {}: {}", path.string(), doing, std::strerror(error)));
}

std::string withoutLastSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Runs a command with little output, and returns its exit code.
Task<int> run(AsyncPodClient pods, std::string pod, String container, List<String> command) {
  const ExecOptions options{.container = std::move(container), .command = std::move(command)};
  auto session = co_await pods.exec(pod, options);
  co_return co_await session.wait();
}

[[noreturn]] void tarFailed(std::string_view pod, int code, std::string_view complaint) {
  while (complaint.ends_with('\n')) complaint.remove_suffix(1);
  throw Error(fmt::format("pod \"{}\": tar ended with exit code {}{}{}", pod, code,
                          complaint.empty() ? "" : ": ", complaint));
}

// --- Into a container.

// Its functions return false if the container does not read any more.
class Packer {
 public:
  Packer(AsyncContainerSession& session, const CopyOptions& options)
      : session_(session), options_(options), tar_([this](std::string_view bytes) {
          unsent_ += bytes;
          return true;
        }) {}

  Task<bool> add(fs::path path, std::string name) {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0) failed(path, "cannot be read");
    TarEntry entry{.name = std::move(name),
                   .mode = info.st_mode & 07777,
                   .modified = static_cast<std::int64_t>(info.st_mtime)};
    if (S_ISDIR(info.st_mode)) co_return co_await addFolder(std::move(path), std::move(entry));
    if (S_ISREG(info.st_mode)) co_return co_await addFile(std::move(path), std::move(entry));
    if (S_ISLNK(info.st_mode)) {
      entry.type = TarEntry::Type::SymLink;
      entry.link = fs::read_symlink(path).string();
      tar_.begin(entry);
      co_return co_await flush();
    }
    skip(fmt::format("{}: neither a file nor a folder", path.string()));
    co_return true;
  }
  Task<bool> finish() {
    tar_.finish();
    return flush();
  }
  const CopyResult& result() const { return result_; }

 private:
  Task<bool> flush() { return session_.write(std::exchange(unsent_, {})); }

  Task<bool> addFolder(fs::path path, TarEntry entry) {
    const std::string name = entry.name;
    entry.type = TarEntry::Type::Folder;
    entry.name += '/';
    tar_.begin(entry);
    bool heard = co_await flush();
    std::vector<fs::path> inside;
    for (const auto& one : fs::directory_iterator(path)) inside.push_back(one.path());
    std::sort(inside.begin(), inside.end());
    for (const fs::path& one : inside) {
      if (!heard) break;
      heard = co_await add(one, name + "/" + one.filename().string());
    }
    co_return heard;
  }

  Task<bool> addFile(fs::path path, TarEntry entry) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (file.get() < 0 || fstat(file.get(), &info) != 0) failed(path, "cannot be opened");
    entry.size = static_cast<std::uint64_t>(info.st_size);
    tar_.begin(entry);
    std::string buffer(kFilePiece, '\0');
    for (std::uint64_t left = entry.size; left > 0;) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()));
      const ssize_t count = read(file.get(), buffer.data(), wanted);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) failed(path, "cannot be read");
      // The header with the size is already sent.
      if (count == 0) throw Error(path.string() + ": the file became shorter while it was copied");
      tar_.data({buffer.data(), static_cast<std::size_t>(count)});
      const bool heard = co_await flush();
      if (!heard) co_return false;
      left -= static_cast<std::uint64_t>(count);
    }
    ++result_.files;
    result_.bytes += entry.size;
    co_return co_await flush();
  }

  void skip(const std::string& what) const {
    if (options_.onSkipped) options_.onSkipped(what);
  }

  AsyncContainerSession& session_;
  const CopyOptions& options_;
  std::string unsent_;
  detail::TarWriter tar_;
  CopyResult result_;
};

// --- Out of a container.

// Creates a new file with an unpredictable name: other users may have access to the folder, such as
// /tmp. Returns -1 and sets errno on failure.
int openNew(const fs::path& folder, mode_t mode, std::string& path) {
  constexpr int kTries = 10;
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  for (int i = 0; i < kTries; ++i) {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) return -1;
    path = (folder / fmt::format(".kubexx-{:016x}", number)).string();
    const int fd = open(path.c_str(), flags, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

// Returns the parts of a name; none if the name leads out of its folder.
std::optional<std::vector<std::string>> partsOf(std::string_view name) {
  std::vector<std::string> parts;
  while (!name.empty()) {
    const std::string_view part = detail::cut(name, '/');
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.find('\0') != std::string_view::npos) return std::nullopt;
    parts.emplace_back(part);
  }
  return parts;
}

class Unpacker final : public detail::TarHandler {
 public:
  // The entry `source` of the archive, and the entries below it, become `target`.
  Unpacker(const std::string& source, fs::path target, const CopyOptions& options)
      : source_(partsOf(source).value_or(std::vector<std::string>())),
        target_(std::move(target)),
        options_(options) {}
  ~Unpacker() { abandon(); }

  const CopyResult& result() const { return result_; }

  void entry(const TarEntry& entry) override {
    const auto path = placeOf(entry);
    if (!path) return;
    if (entry.type == TarEntry::Type::Folder) {
      fs::create_directories(*path);
      return;
    }
    if (path->has_parent_path()) fs::create_directories(path->parent_path());
    final_ = *path;
    std::string fresh;
    file_.emplace(openNew(path->parent_path(), entry.mode & 0777, fresh));
    if (file_->get() < 0) {
      file_.reset();
      failed(final_, "cannot create a new file in its folder");
    }
    part_ = std::move(fresh);
  }

  void data(std::string_view bytes) override {
    while (file_ && !bytes.empty()) {
      const ssize_t count = write(file_->get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) failed(final_, "cannot be written");
      result_.bytes += static_cast<std::uint64_t>(count);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void end() override {
    if (!file_) return;
    if (!file_->close()) failed(final_, "cannot be written");
    file_.reset();
    fs::rename(part_, final_);
    part_.clear();
    ++result_.files;
  }

 private:
  std::optional<fs::path> placeOf(const TarEntry& entry) const {
    const auto skip = [&](std::string_view why) {
      if (options_.onSkipped) options_.onSkipped(fmt::format("{}: {}", entry.name, why));
      return std::nullopt;
    };
    const auto parts = partsOf(entry.name);
    if (!parts || parts->size() < source_.size() ||
        !std::equal(source_.begin(), source_.end(), parts->begin())) {
      return skip("is outside of the requested path");
    }
    if (entry.type == TarEntry::Type::SymLink || entry.type == TarEntry::Type::HardLink) {
      return skip(fmt::format("is a link to \"{}\", which is not followed", entry.link));
    }
    if (entry.type == TarEntry::Type::Other) return skip("is neither a file nor a folder");
    fs::path path = target_;
    for (std::size_t i = source_.size(); i < parts->size(); ++i) path /= (*parts)[i];
    return path;
  }

  void abandon() {
    file_.reset();
    if (!part_.empty()) unlink(part_.c_str());
  }

  const std::vector<std::string> source_;
  const fs::path target_;
  const CopyOptions& options_;
  std::optional<Descriptor> file_;  // the file that is being written, as part_
  std::string part_;                // empty: no file
  fs::path final_;
  CopyResult result_;
};

Task<CopyResult> pack(AsyncPodClient pods, std::string pod, std::string local, std::string remote,
                      CopyOptions options) {
  const fs::path source = withoutLastSlash(local);
  if (remote.empty()) throw Error("copy: the target path in the container is empty");
  if (!fs::exists(fs::symlink_status(source))) {
    throw Error(fmt::format("{}: no such file or folder", local));
  }
  std::string target = withoutLastSlash(remote);
  List<String> isFolder{"test", "-d", String(target)};
  const int noFolder = co_await run(pods, pod, options.container, std::move(isFolder));
  if (noFolder == 0) {
    const fs::path name = fs::absolute(source).lexically_normal().filename();
    target = (fs::path(target) / name).string();
  }
  const fs::path place(target);
  List<String> command{"tar"};
  if (options.noPreserve) {
    command.push_back("--no-same-permissions");
    command.push_back("--no-same-owner");
  }
  command.push_back("-xmf");
  command.push_back("-");
  if (place.has_parent_path()) {
    command.push_back("-C");
    command.push_back(String(place.parent_path().string()));
  }
  const ExecOptions tar{
      .container = options.container, .command = command, .stdin = true, .stdout = false};
  auto session = co_await pods.exec(pod, tar);
  Packer packer(session, options);
  bool heard = co_await packer.add(source, place.filename().string());
  if (heard) heard = co_await packer.finish();
  // If stdin cannot be closed, two empty blocks have marked the end for tar.
  if (heard && session.canCloseStdin()) session.closeStdin();
  const ContainerOutput said = co_await session.output();
  if (said.exitCode != 0) tarFailed(pod, said.exitCode, said.err);
  if (!heard) throw Error(fmt::format("pod \"{}\": tar ended before it had read everything", pod));
  co_return packer.result();
}

Task<CopyResult> unpack(AsyncPodClient pods, std::string pod, std::string remote, std::string local,
                        CopyOptions options) {
  const std::string source = withoutLastSlash(remote);
  if (source.empty()) throw Error("copy: the source path in the container is empty");
  fs::path target = withoutLastSlash(local);
  if (fs::is_directory(target)) {
    target /= fs::path(source).lexically_normal().filename();
  }
  List<String> command{"tar", "cf", "-", String(source)};
  const ExecOptions reading{.container = options.container, .command = std::move(command)};
  auto session = co_await pods.exec(pod, reading);
  Unpacker files(source, target, options);
  detail::TarReader tar(files);
  std::string complaint;
  bool any = false;
  for (;;) {
    const auto piece = co_await session.read();
    if (!piece) break;
    if (piece->stream == ContainerSession::Stream::Stderr) {
      complaint += piece->bytes.substr(0, kMaxComplaint - complaint.size());
      continue;
    }
    any = true;
    tar.feed(piece->bytes);
  }
  const int code = co_await session.wait();
  if (code != 0) tarFailed(pod, code, complaint);
  if (any || complaint.empty()) tar.finish();
  co_return files.result();
}

// Runs where files may be read and written.
Task<CopyResult> copying(Task<CopyResult> copy) {
  try {
    co_return co_await detail::onTaskThreads(std::move(copy));
  } catch (const fs::filesystem_error& error) {
    throw Error(error.what());
  }
}

}  // namespace

Task<CopyResult> copyTo(const AsyncPodClient& pods, std::string pod, std::string local,
                        std::string remote, CopyOptions options) {
  return copying(
      pack(pods, std::move(pod), std::move(local), std::move(remote), std::move(options)));
}
Task<CopyResult> copyFrom(const AsyncPodClient& pods, std::string pod, std::string remote,
                          std::string local, CopyOptions options) {
  return copying(
      unpack(pods, std::move(pod), std::move(remote), std::move(local), std::move(options)));
}

CopyResult copyTo(const PodClient& pods, std::string_view pod, const std::string& local,
                  const std::string& remote, const CopyOptions& options,
                  const std::stop_token& stop) {
  return detail::runBlocking(copyTo(pods.async(), std::string(pod), local, remote, options), stop);
}
CopyResult copyFrom(const PodClient& pods, std::string_view pod, const std::string& remote,
                    const std::string& local, const CopyOptions& options,
                    const std::stop_token& stop) {
  return detail::runBlocking(copyFrom(pods.async(), std::string(pod), remote, local, options),
                             stop);
}

}  // namespace kube
