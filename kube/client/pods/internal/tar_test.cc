// No threads.

#include "kube/client/pods/internal/tar.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kube/base/error.h"

namespace kube::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Recorder final : public TarHandler {
 public:
  std::vector<std::string> events;

  void entry(const TarEntry& entry) override {
    events.push_back(fmt::format("{} {} {:o} {} {}{}", static_cast<char>(entry.type), entry.name,
                                 entry.mode, entry.size, entry.modified,
                                 entry.link.empty() ? "" : " -> " + entry.link));
    data_.clear();
  }
  void data(std::string_view bytes) override { data_ += bytes; }
  void end() override {
    if (!data_.empty())
      events.push_back(data_.size() < 50 ? data_ : fmt::format("{} bytes", data_.size()));
    data_.clear();
  }

 private:
  std::string data_;
};

std::vector<std::string> read(std::string_view bytes, std::size_t piece = 1000) {
  Recorder recorder;
  TarReader reader(recorder);
  for (std::size_t at = 0; at < bytes.size(); at += piece) reader.feed(bytes.substr(at, piece));
  reader.finish();
  return recorder.events;
}

std::string archive(const std::vector<std::pair<TarEntry, std::string>>& entries) {
  std::string out;
  TarWriter writer([&](std::string_view bytes) {
    out += bytes;
    return true;
  });
  for (auto [entry, data] : entries) {
    entry.size = data.size();
    writer.begin(entry);
    writer.data(data);
  }
  writer.finish();
  return out;
}

TEST(TarTest, AWrittenArchiveIsReadInPiecesOfAnySize) {
  const std::string bytes =
      archive({{{.name = "a/", .type = TarEntry::Type::Folder, .mode = 0755, .modified = 5}, ""},
               {{.name = "a/b", .mode = 0640, .modified = 1700000000}, "hello"},
               {{.name = "a/empty"}, ""},
               {{.name = "l", .type = TarEntry::Type::SymLink, .link = "a/b"}, ""},
               {{.name = "block"}, std::string(512, 'x')}});
  EXPECT_EQ(bytes.size() % 512, 0u);
  for (const std::size_t piece : {1, 7, 511, 512, 513, 100000}) {
    EXPECT_THAT(read(bytes, piece),
                ElementsAre("5 a/ 755 0 5", "0 a/b 640 5 1700000000", "hello", "0 a/empty 644 0 0",
                            "2 l 644 0 0 -> a/b", "0 block 644 512 0", "512 bytes"));
  }
}

TEST(TarTest, LongNamesAndLargeSizes) {
  const std::string name = std::string(300, 'n'), link(200, 'l');
  EXPECT_THAT(read(archive({{{.name = name}, "x"},
                            {{.name = "s", .type = TarEntry::Type::SymLink, .link = link}, ""}})),
              ElementsAre("0 " + name + " 644 1 0", "x", "2 s 644 0 0 -> " + link));
  std::string head;
  TarWriter writer([&](std::string_view bytes) {
    head += bytes;
    return true;
  });
  writer.begin({.name = "big", .size = 20'000'000'000});
  Recorder recorder;
  TarReader(recorder).feed(head);
  EXPECT_THAT(recorder.events, ElementsAre("0 big 644 20000000000 0"));
}

TEST(TarTest, ArchivesOfTheSystemsTarAreReadInEveryFormat) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / fmt::format("kubexx-tar-{}", getpid());
  const std::string longName(90, 'n');
  fs::create_directories(folder / "in" / longName);
  std::ofstream(folder / "in" / longName / longName) << "deep";
  std::ofstream(folder / "in" / "a") << "hello";
  fs::create_symlink("a", folder / "in" / "link");
  for (const char* format : {"gnu", "pax", "ustar"}) {
    const std::string file = (folder / format).string();
    const std::string command = fmt::format(
        "tar --format={} --sort=name -C {} -cf {} in 2>/dev/null", format, folder.string(), file);
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no GNU tar here";
    std::ifstream in(file, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const auto events = read(bytes);
    EXPECT_THAT(events, ::testing::Contains("hello")) << format;
    EXPECT_THAT(events, ::testing::Contains("deep")) << format;
    EXPECT_THAT(events, ::testing::Contains(HasSubstr("in/" + longName + "/" + longName + " ")))
        << format;
    EXPECT_THAT(events, ::testing::Contains(HasSubstr("-> a"))) << format;
  }
  fs::remove_all(folder);
}

TEST(TarTest, InvalidArchivesAreRefused) {
  const std::string good = archive({{{.name = "a"}, "hello"}});
  const auto problem = [](std::string_view bytes) {
    try {
      read(bytes);
    } catch (const DecodeError& error) {
      return error.reason();
    }
    return std::string("none");
  };
  EXPECT_EQ(problem(good), "none");
  EXPECT_EQ(problem(""), "the input is empty");
  EXPECT_EQ(problem(good.substr(0, 100)), "the archive ends too early");
  EXPECT_EQ(problem(good.substr(0, 514)), "the archive ends too early");
  EXPECT_EQ(problem(good.substr(0, 1024)), "the archive ends too early");
  EXPECT_THAT(problem(std::string(512, 'x')), HasSubstr("not octal"));
  std::string damaged = good;
  damaged[0] = 'b';
  EXPECT_EQ(problem(damaged), "this is not a tar archive, or it is damaged");
  const auto pax = [&](const std::string& records) {
    std::string bytes =
        archive({{{.name = "p", .type = static_cast<TarEntry::Type>('0')}, records}});
    bytes[156] = 'x';
    // The checksum covers the type, too.
    const std::string sum =
        fmt::format("{:06o}", std::strtoul(bytes.substr(148, 6).c_str(), nullptr, 8) + 'x' - '0');
    bytes.replace(148, 6, sum);
    return problem(bytes);
  };
  EXPECT_EQ(pax("12 path=abc\n"), "none");
  for (const char* bad : {"0 \n", "99 path=a\n", "x", "6 path\n", "5 a=bc", "14 size=12x45\n"}) {
    EXPECT_THAT(pax(bad), HasSubstr("pax")) << bad;
  }
}

TEST(TarTest, WritingEndsWhenTheOutputIsRefused) {
  int calls = 0;
  TarWriter writer([&](std::string_view) { return ++calls < 2; });
  EXPECT_TRUE(writer.begin({.name = "a", .size = 2}));
  EXPECT_FALSE(writer.data("xx"));
}

}  // namespace
}  // namespace kube::detail
