#include "kube/client/pods/pod_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "kube/base/when.h"
#include "kube/client/pods/internal/pod_server_testing.h"
#include "kube/client/pods/internal/tar.h"
#include "kube/meta/api_error.h"
#include "kube/testing/host_program_testing.h"

namespace kube {
namespace {

namespace fs = std::filesystem;
using detail::TarEntry;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Process;

class PodCopyTest : public PodServerTest {
 protected:
  PodCopyTest() {
    fs::remove_all(base_);
    fs::create_directories(here());
    fs::create_directories(there() / "tmp");
    program(testing::hostProgram(there().string()));
  }
  ~PodCopyTest() override { fs::remove_all(base_); }

  fs::path here() const { return base_ / "here"; }
  fs::path there() const { return base_ / "there"; }
  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return "no such file";
    return {std::istreambuf_iterator<char>(in), {}};
  }
  CopyOptions options() {
    return {.onSkipped = [this](const std::string& what) { skipped.push_back(what); }};
  }
  CopyResult to(const fs::path& local, const std::string& remote) {
    return copyTo(pods(), "web", local.string(), remote, options());
  }
  CopyResult from(const std::string& remote, const fs::path& local) {
    return copyFrom(pods(), "web", remote, local.string(), options());
  }

  std::vector<std::string> skipped;

 private:
  const fs::path base_ =
      fs::temp_directory_path() /
      fmt::format("kubexx-copy-{}-{}", getpid(),
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(PodCopyTest, AFileIsCopiedInAndOut) {
  const std::string bytes = NoiseSource().next(3'000'000);
  write(here() / "a", bytes);
  EXPECT_EQ(to(here() / "a", "/tmp/b").bytes, bytes.size());
  EXPECT_TRUE(read(there() / "tmp/b") == bytes);
  const CopyResult back = from("/tmp/b", here() / "c");
  EXPECT_EQ(back.files, 1u);
  EXPECT_EQ(back.bytes, bytes.size());
  EXPECT_TRUE(read(here() / "c") == bytes);
  EXPECT_EQ(std::distance(fs::directory_iterator(here()), {}), 2) << "no other file is left";
}

TEST_F(PodCopyTest, AFolderIsCopiedInAndOutWithItsContent) {
  write(here() / "site/index.html", "<html>");
  write(here() / "site/deep/er/x", "x");
  write(here() / ("site/" + std::string(150, 'n')), "long");
  fs::create_directories(here() / "site/empty");
  chmod((here() / "site/index.html").c_str(), 0755);
  EXPECT_EQ(to(here() / "site/", "/tmp/www").files, 3u);
  EXPECT_EQ(read(there() / "tmp/www/index.html"), "<html>");
  EXPECT_EQ(read(there() / "tmp/www/deep/er/x"), "x");
  EXPECT_TRUE(fs::is_directory(there() / "tmp/www/empty"));
  EXPECT_EQ(from("/tmp/www/", here() / "back").files, 3u);
  EXPECT_EQ(read(here() / "back/deep/er/x"), "x");
  EXPECT_EQ(read(here() / ("back/" + std::string(150, 'n'))), "long");
  EXPECT_TRUE(fs::is_directory(here() / "back/empty"));
  EXPECT_EQ(fs::status(here() / "back/index.html").permissions() & fs::perms::owner_exec,
            fs::perms::owner_exec);
}

TEST_F(PodCopyTest, ACopyOntoAFolderIsPlacedIntoIt) {
  write(here() / "a", "1");
  to(here() / "a", "/tmp");
  EXPECT_EQ(read(there() / "tmp/a"), "1");
  fs::create_directories(here() / "into");
  from("/tmp/a", here() / "into");
  EXPECT_EQ(read(here() / "into/a"), "1");
}

TEST_F(PodCopyTest, LinksAreCopiedInAndSkippedOnTheWayOut) {
  write(here() / "d/a", "1");
  fs::create_symlink("a", here() / "d/link");
  to(here() / "d", "/tmp/d");
  EXPECT_EQ(fs::read_symlink(there() / "tmp/d/link"), "a");
  from("/tmp/d", here() / "back");
  EXPECT_EQ(read(here() / "back/a"), "1");
  EXPECT_FALSE(fs::exists(fs::symlink_status(here() / "back/link")));
  EXPECT_THAT(skipped, ElementsAre(HasSubstr("is a link to \"a\"")));
}

TEST_F(PodCopyTest, FailuresOfTarAreReported) {
  EXPECT_THAT(thrown<Error>([&] { from("/nowhere", here() / "x"); }),
              ::testing::AllOf(HasSubstr("exit code 2"), HasSubstr("nowhere")));
  write(here() / "a", std::string(5'000'000, 'x'));
  EXPECT_THAT(thrown<Error>([&] { to(here() / "a", "/no/such/folder/a"); }),
              HasSubstr("exit code 2"));
  EXPECT_THAT(thrown<Error>([&] { to(here() / "none", "/tmp/a"); }), HasSubstr("no such file"));
  EXPECT_THAT(thrown<ApiError>([&] { copyFrom(pods(), "nobody", "/a", (here() / "a").string()); }),
              HasSubstr("not found"));
}

TEST_F(PodCopyTest, AContainerWithoutTarIsAnError) {
  program(testing::runBuiltIn);
  EXPECT_THAT(thrown<ApiError>([&] { from("/a", here() / "a"); }),
              HasSubstr("\"tar\": executable file not found"));
}

// --- The awaitable forms.

TEST_F(PodCopyTest, TasksCopyInAndOut) {
  const std::string bytes = NoiseSource().next(3'000'000);
  write(here() / "d/a", bytes);
  write(here() / "d/b", "b");
  const AsyncPodClient tasks = pods().async();
  EXPECT_EQ(blockOn(copyTo(tasks, "web", (here() / "d").string(), "/tmp/d")).files, 2u);
  EXPECT_TRUE(read(there() / "tmp/d/a") == bytes);
  std::vector<Task<CopyResult>> copies;
  for (int i = 0; i < 8; ++i) {
    copies.push_back(copyFrom(tasks, "web", "/tmp/d", (here() / std::to_string(i)).string()));
  }
  for (const CopyResult& copied : blockOn(whenAll(std::move(copies)))) {
    EXPECT_EQ(copied.bytes, bytes.size() + 1);
  }
  EXPECT_TRUE(read(here() / "7/a") == bytes);
}

TEST_F(PodCopyTest, ErrorsOfTasksAreTheSame) {
  const AsyncPodClient tasks = pods().async();
  const auto in = [&](const fs::path& local, const char* remote) {
    return thrown<Error>([&] { blockOn(copyTo(tasks, "web", local.string(), remote)); });
  };
  write(here() / "a", std::string(5'000'000, 'x'));
  EXPECT_THAT(in(here() / "none", "/tmp/a"), HasSubstr("no such file"));
  EXPECT_THAT(in(here() / "a", "/no/such/folder/a"), HasSubstr("exit code 2"));
  write(here() / "file", "not a folder");
  EXPECT_THAT(
      thrown<Error>([&] { blockOn(copyFrom(tasks, "web", "/tmp", (here() / "file/x").string())); }),
      HasSubstr("file"));
}

TEST_F(PodCopyTest, ATaskThatIsStoppedLeavesNoPartOfAFile) {
  program([](Process& process) {
    detail::TarWriter tar([&](std::string_view bytes) { return process.write(bytes); });
    tar.begin({.name = "a", .size = 1000});
    tar.data("half");
    process.clock().sleepFor(std::chrono::seconds(1000), process.stop());
    return 0;
  });
  std::stop_source stop;
  std::jthread other([&] {
    while (fs::is_empty(here())) std::this_thread::yield();
    stop.request_stop();
  });
  const auto copy = [&] {
    blockOn(copyFrom(pods().async(), "web", "/a", (here() / "a").string()), stop.get_token());
  };
  EXPECT_THROW(copy(), CanceledError);
  EXPECT_TRUE(fs::is_empty(here()));
}

// --- An untrusted container.

TEST_F(PodCopyTest, NothingIsWrittenOutsideOfTheTarget) {
  program([](Process& process) {
    detail::TarWriter tar([&](std::string_view bytes) { return process.write(bytes); });
    const auto file = [&](const char* name) {
      tar.begin({.name = name, .size = 4});
      tar.data("evil");
    };
    for (const char* name : {"d/../../evil", "../evil", "evil", "/evil", "d/ok"}) file(name);
    tar.begin({.name = "d/link", .type = TarEntry::Type::SymLink, .link = "/"});
    tar.begin({.name = "d/hard", .type = TarEntry::Type::HardLink, .link = "/etc/passwd"});
    file("d/link/evil");
    tar.begin({.name = "d/device", .type = static_cast<TarEntry::Type>('3')});
    tar.finish();
    return 0;
  });
  EXPECT_EQ(from("/d", here() / "out").files, 2u);
  EXPECT_EQ(read(here() / "out/ok"), "evil");
  EXPECT_EQ(read(here() / "out/link/evil"), "evil") << "in a folder of that name";
  EXPECT_FALSE(fs::exists(here() / "evil"));
  EXPECT_FALSE(fs::exists("/evil"));
  EXPECT_EQ(skipped.size(), 7u);
}

TEST_F(PodCopyTest, AFileThatCannotBeRenamedLeavesNothingBehind) {
  program([](Process& process) {
    detail::TarWriter tar([&](std::string_view bytes) { return process.write(bytes); });
    tar.begin({.name = "d/a", .size = 4});
    tar.data("data");
    tar.finish();
    return 0;
  });
  write(here() / "out/d/a/inside", "a folder is where the file should be");
  EXPECT_THAT(thrown<Error>([&] { from("/d", here() / "out"); }), HasSubstr("out/d/a"));
  std::vector<std::string> left;
  for (const auto& one : fs::recursive_directory_iterator(here())) {
    left.push_back(one.path().filename().string());
  }
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("out", "d", "a", "inside"));
}

TEST_F(PodCopyTest, AnIncompleteFileHasAnUnpredictableName) {
  // The container waits in the middle of a file, while another program looks at the folder.
  std::mutex seenMutex;
  std::vector<std::string> seen;
  program([&](Process& process) {
    detail::TarWriter tar([&](std::string_view bytes) { return process.write(bytes); });
    tar.begin({.name = "a", .mode = 0600, .size = 8});
    tar.data("half");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (bool found = false; !found && std::chrono::steady_clock::now() < deadline;) {
      for (const auto& one : fs::directory_iterator(here())) {
        const std::string name = one.path().filename().string();
        if (name == "a") continue;
        const std::lock_guard lock(seenMutex);
        seen.push_back(name);
        found = true;
      }
    }
    tar.data("half");
    tar.finish();
    return 0;
  });
  EXPECT_EQ(from("/a", here() / "a").files, 1u);
  EXPECT_EQ(from("/a", here() / "b").files, 1u);
  const std::lock_guard lock(seenMutex);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_THAT(seen[0], ::testing::MatchesRegex("\\.kubexx-[0-9a-f]+"));
  EXPECT_NE(seen[0], seen[1]);
}

TEST_F(PodCopyTest, AnIncompleteArchiveLeavesNoPartOfAFile) {
  program([](Process& process) {
    detail::TarWriter tar([&](std::string_view bytes) { return process.write(bytes); });
    tar.begin({.name = "a", .size = 1000});
    tar.data("half");
    return 0;
  });
  EXPECT_THAT(thrown<DecodeError>([&] { from("/a", here() / "a"); }), HasSubstr("ends too early"));
  EXPECT_TRUE(fs::is_empty(here()));
}

}  // namespace
}  // namespace kube
