#include "kube/rest/kubeconfig_files.h"

#include <gmock/gmock.h>

#include <thread>

#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using test::messageOf;
using test::ScopedVariable;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string withContext(std::string_view context, std::string_view server) {
  return "contexts: [{name: " + std::string(context) + ", context: {cluster: c, user: u}}]\n" +
         "clusters: [{name: c, cluster: {server: " + std::string(server) +
         "}}]\ncurrent-context: " + std::string(context) + "\n";
}

TEST(KubeconfigFilesTest, AreFoundAsKubectlFindsThem) {
  {
    const ScopedVariable home("HOME", "/somewhere");
    const ScopedVariable unset("KUBECONFIG");
    EXPECT_THAT(KubeconfigFiles().paths(), ElementsAre("/somewhere/.kube/config"));
    EXPECT_THAT(KubeconfigFiles("/x").paths(), ElementsAre("/x"));
    EXPECT_TRUE(KubeconfigFiles("/x").isExplicit());
  }
  const ScopedVariable set("KUBECONFIG", ":/a::/b:/a:c");
  EXPECT_THAT(KubeconfigFiles().paths(), ElementsAre("/a", "/b", "c"));
  EXPECT_FALSE(KubeconfigFiles().isExplicit());
  EXPECT_THAT(KubeconfigFiles("/x").paths(), ElementsAre("/x"));
}

TEST(KubeconfigFilesTest, TheFirstOfSeveralWins) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a", withContext("one", "first"));
  const std::string b = folder.write(
      "sub/b", withContext("two", "second") + "users: [{name: u, user: {tokenFile: t}}]\n");
  const ScopedVariable list("KUBECONFIG", folder.path("none") + ":" + a + ":" + b);
  const Kubeconfig merged = KubeconfigFiles().load();
  EXPECT_EQ(merged.currentContext, "one");
  EXPECT_EQ(merged.clusters.at("c").server, "first");
  EXPECT_EQ(merged.contexts.at("two").origin, b);
  EXPECT_EQ(merged.users.at("u").tokenFile, folder.path("sub/t"));
  EXPECT_EQ(KubeconfigFiles().load({.resolvePaths = false}).users.at("u").tokenFile, "t");
}

TEST(KubeconfigFilesTest, OnlyAnExplicitFileMustExist) {
  const TemporaryFolder folder;
  EXPECT_THROW(KubeconfigFiles(folder.path("none")).load(), ConfigError);
  const ScopedVariable list("KUBECONFIG", folder.path("none"));
  EXPECT_TRUE(KubeconfigFiles().load().empty());
}

TEST(KubeconfigFilesTest, ABrokenFileIsAnErrorWithItsName) {
  const TemporaryFolder folder;
  const std::string good = folder.write("good", withContext("one", "s"));
  const std::string bad = folder.write("bad", "users: 7\n");
  const ScopedVariable list("KUBECONFIG", good + ":" + bad);
  EXPECT_THAT(messageOf([] { KubeconfigFiles().load(); }),
              AllOf(HasSubstr(bad), HasSubstr("users")));
}

TEST(KubeconfigFilesTest, AChangeIsWrittenToTheFileOfTheEntry) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a", withContext("one", "first"));
  const std::string b = folder.write(
      "b", withContext("two", "second") + "users: [{name: u, user: {client-key: k.pem}}]\n");
  const std::string beforeA = test::readAll(a);
  const ScopedVariable list("KUBECONFIG", a + ":" + b);

  KubeconfigFiles().modify([](Kubeconfig& k) { k.contexts.write("two").namespace_ = "book"; });
  EXPECT_EQ(test::readAll(a), beforeA);
  EXPECT_EQ(Kubeconfig::read(b).contexts.at("two").namespace_, "book");
  // Entries of the same name in the other file, and file names, are unchanged.
  EXPECT_EQ(Kubeconfig::read(b).clusters.at("c").server, "second");
  EXPECT_EQ(Kubeconfig::read(b).users.at("u").clientKey, "k.pem");

  KubeconfigFiles().modify([](Kubeconfig& k) {
    k.users["new"] = {.token = "t"};
    k.contexts.erase("two");
  });
  EXPECT_EQ(Kubeconfig::read(a).users.at("new").token, "t");
  EXPECT_FALSE(Kubeconfig::read(b).contexts.contains("two"));
  EXPECT_FALSE(std::filesystem::exists(a + ".lock"));
}

TEST(KubeconfigFilesTest, AFileIsMadeIfThereIsNone) {
  const TemporaryFolder folder;
  const ScopedVariable home("HOME", folder.path());
  const ScopedVariable unset("KUBECONFIG");
  KubeconfigFiles().modify([](Kubeconfig& k) { k.clusters["c"] = {.server = "s"}; });
  EXPECT_EQ(Kubeconfig::read(folder.path(".kube/config")).clusters.at("c").server, "s");

  // If several files are missing, the last one is made.
  const ScopedVariable list("KUBECONFIG", folder.path("x") + ":" + folder.path("y"));
  KubeconfigFiles().modify([](Kubeconfig& k) { k.clusters["c"] = {.server = "s"}; });
  EXPECT_FALSE(std::filesystem::exists(folder.path("x")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("y")));
}

TEST(KubeconfigFilesTest, WithoutChangesNothingIsWritten) {
  const TemporaryFolder folder;
  const std::string text = "# mine\n" + withContext("one", "s");
  const std::string file = folder.write("config", text);
  const KubeconfigFiles files(file);
  files.modify([](Kubeconfig&) {});
  EXPECT_THROW(files.modify([](Kubeconfig& k) {
    k.clusters.clear();
    throw Error("changed my mind");
  }),
               Error);
  EXPECT_EQ(test::readAll(file), text);
  EXPECT_FALSE(std::filesystem::exists(file + ".lock"));
}

TEST(KubeconfigFilesTest, TheCurrentContextIsSetInTheFileThatWins) {
  const TemporaryFolder folder;
  const std::string a = folder.write("a", withContext("one", "s"));
  const std::string b = folder.write("b", withContext("two", "s"));
  const ScopedVariable list("KUBECONFIG", a + ":" + b);
  KubeconfigFiles().setCurrentContext("two");
  EXPECT_EQ(Kubeconfig::read(a).currentContext, "two");
  EXPECT_EQ(KubeconfigFiles().load().currentContext, "two");
  EXPECT_THAT(messageOf([] { KubeconfigFiles().setCurrentContext("three"); }),
              HasSubstr("there is no context \"three\""));

  // The current context is unset in all files; a file that never had one is left alone.
  const std::string text = "# mine\nclusters: [{name: d, cluster: {server: s}}]\n";
  const std::string c = folder.write("c", text);
  const ScopedVariable longer("KUBECONFIG", c + ":" + a + ":" + b);
  KubeconfigFiles().setCurrentContext("");
  EXPECT_EQ(KubeconfigFiles().load().currentContext, "");
  EXPECT_EQ(test::readAll(c), text);
}

TEST(KubeconfigFilesTest, WaitsForTheLockOfAnotherProgram) {
  const TemporaryFolder folder;
  const std::string file = folder.write("config", withContext("one", "s"));
  const std::string lock = folder.write("config.lock", "");
  FakeClock clock;
  const KubeconfigFiles files(file);
  const auto change = [](Kubeconfig& k) { k.currentContext = "new"; };

  EXPECT_THAT(messageOf([&] { files.modify(change, {.lockPatience = 0s, .clock = &clock}); }),
              HasSubstr(lock));
  EXPECT_TRUE(std::filesystem::exists(lock));  // the lock belongs to another program

  std::thread waiting([&] { files.modify(change, {.lockPatience = 1h, .clock = &clock}); });
  clock.waitForWaiters(1);
  EXPECT_EQ(Kubeconfig::read(file).currentContext, "one");
  std::filesystem::remove(lock);
  clock.advance(1min);
  waiting.join();
  EXPECT_EQ(Kubeconfig::read(file).currentContext, "new");
  EXPECT_FALSE(std::filesystem::exists(lock));
}

TEST(KubeconfigFilesTest, ThreadsLoseNoChanges) {
  const TemporaryFolder folder;
  const KubeconfigFiles files(folder.path("config"));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        files.modify(
            [&](Kubeconfig& k) {
              k.clusters["c" + std::to_string(t) + std::to_string(i)] = {.server = "s"};
            },
            {.lockPatience = 1min});
      }
    });
  }
  threads.clear();
  EXPECT_EQ(files.load().clusters.size(), 20U);
}

}  // namespace
}  // namespace kube
