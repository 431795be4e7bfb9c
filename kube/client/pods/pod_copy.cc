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
#include <vector>

#include "kube/base/internal/text.h"
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
int run(const PodClient& pods, std::string_view pod, const CopyOptions& options,
        List<String> command, const std::stop_token& stop) {
  return pods.exec(pod, {.container = options.container, .command = std::move(command)}, stop)
      .wait();
}

[[noreturn]] void tarFailed(std::string_view pod, int code, std::string_view complaint) {
  while (complaint.ends_with('\n')) complaint.remove_suffix(1);
  throw Error(fmt::format("pod \"{}\": tar ended with exit code {}{}{}", pod, code,
                          complaint.empty() ? "" : ": ", complaint));
}

// --- Into a container.

class Packer {
 public:
  Packer(ContainerSession& session, const CopyOptions& options)
      : options_(options),
        tar_([&session](std::string_view bytes) { return session.write(bytes); }) {}

  // Returns false if the container does not read any more.
  bool add(const fs::path& path, const std::string& name) {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0) failed(path, "cannot be read");
    TarEntry entry{.name = name,
                   .mode = info.st_mode & 07777,
                   .modified = static_cast<std::int64_t>(info.st_mtime)};
    if (S_ISLNK(info.st_mode)) {
      entry.type = TarEntry::Type::SymLink;
      entry.link = fs::read_symlink(path).string();
      return tar_.begin(entry);
    }
    if (S_ISDIR(info.st_mode)) return addFolder(path, entry);
    if (S_ISREG(info.st_mode)) return addFile(path, entry);
    skip(fmt::format("{}: neither a file nor a folder", path.string()));
    return true;
  }
  bool finish() { return tar_.finish(); }
  const CopyResult& result() const { return result_; }

 private:
  bool addFolder(const fs::path& path, TarEntry entry) {
    const std::string name = entry.name;
    entry.type = TarEntry::Type::Folder;
    entry.name += '/';
    if (!tar_.begin(entry)) return false;
    std::vector<fs::path> inside;
    for (const auto& one : fs::directory_iterator(path)) inside.push_back(one.path());
    std::sort(inside.begin(), inside.end());
    return std::ranges::all_of(inside, [&](const fs::path& one) {
      return add(one, name + "/" + one.filename().string());
    });
  }

  bool addFile(const fs::path& path, TarEntry entry) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (file.get() < 0 || fstat(file.get(), &info) != 0) failed(path, "cannot be opened");
    entry.size = static_cast<std::uint64_t>(info.st_size);
    if (!tar_.begin(entry)) return false;
    std::string buffer(kFilePiece, '\0');
    for (std::uint64_t left = entry.size; left > 0;) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()));
      const ssize_t count = read(file.get(), buffer.data(), wanted);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) failed(path, "cannot be read");
      // The header with the size is already sent.
      if (count == 0) throw Error(path.string() + ": the file became shorter while it was copied");
      if (!tar_.data({buffer.data(), static_cast<std::size_t>(count)})) return false;
      left -= static_cast<std::uint64_t>(count);
    }
    ++result_.files;
    result_.bytes += entry.size;
    return true;
  }

  void skip(const std::string& what) const {
    if (options_.onSkipped) options_.onSkipped(what);
  }

  const CopyOptions& options_;
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

CopyResult pack(const PodClient& pods, std::string_view pod, const std::string& local,
                const std::string& remote, const CopyOptions& options,
                const std::stop_token& stop) {
  const fs::path source = withoutLastSlash(local);
  if (remote.empty()) throw Error("copy: the target path in the container is empty");
  if (!fs::exists(fs::symlink_status(source))) {
    throw Error(fmt::format("{}: no such file or folder", local));
  }
  std::string target = withoutLastSlash(remote);
  if (run(pods, pod, options, {"test", "-d", String(target)}, stop) == 0) {
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
  auto session = pods.exec(
      pod, {.container = options.container, .command = command, .stdin = true, .stdout = false},
      stop);
  Packer packer(session, options);
  const bool heard = packer.add(source, place.filename().string()) && packer.finish();
  // If stdin cannot be closed, two empty blocks have marked the end for tar.
  if (heard && session.canCloseStdin()) session.closeStdin();
  const ContainerOutput said = session.output();
  if (said.exitCode != 0) tarFailed(pod, said.exitCode, said.err);
  if (!heard) throw Error(fmt::format("pod \"{}\": tar ended before it had read everything", pod));
  return packer.result();
}

CopyResult unpack(const PodClient& pods, std::string_view pod, const std::string& remote,
                  const std::string& local, const CopyOptions& options,
                  const std::stop_token& stop) {
  const std::string source = withoutLastSlash(remote);
  if (source.empty()) throw Error("copy: the source path in the container is empty");
  fs::path target = withoutLastSlash(local);
  if (fs::is_directory(target)) {
    target /= fs::path(source).lexically_normal().filename();
  }
  auto session = pods.exec(
      pod, {.container = options.container, .command = {"tar", "cf", "-", String(source)}}, stop);
  Unpacker files(source, target, options);
  detail::TarReader tar(files);
  std::string complaint;
  bool any = false;
  while (const auto piece = session.read()) {
    if (piece->stream == ContainerSession::Stream::Stderr) {
      complaint += piece->bytes.substr(0, kMaxComplaint - complaint.size());
      continue;
    }
    any = true;
    tar.feed(piece->bytes);
  }
  const int code = session.wait();
  if (code != 0) tarFailed(pod, code, complaint);
  if (any || complaint.empty()) tar.finish();
  return files.result();
}

}  // namespace

CopyResult copyTo(const PodClient& pods, std::string_view pod, const std::string& local,
                  const std::string& remote, const CopyOptions& options,
                  const std::stop_token& stop) {
  try {
    return pack(pods, pod, local, remote, options, stop);
  } catch (const fs::filesystem_error& error) {
    throw Error(error.what());
  }
}

CopyResult copyFrom(const PodClient& pods, std::string_view pod, const std::string& remote,
                    const std::string& local, const CopyOptions& options,
                    const std::stop_token& stop) {
  try {
    return unpack(pods, pod, remote, local, options, stop);
  } catch (const fs::filesystem_error& error) {
    throw Error(error.what());
  }
}

}  // namespace kube
