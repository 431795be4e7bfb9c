#include "cmd/kubexx/run_test.h"

#include <unistd.h>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cmd/kubexx/invocation.h"

namespace kube::cmd {

namespace {

class TellingBuffer final : public std::stringbuf {
 public:
  explicit TellingBuffer(const std::function<void(const std::string&)>& tell) : tell_(tell) {}

 private:
  int sync() override {
    if (tell_) tell_(str());
    return 0;
  }

  const std::function<void(const std::string&)>& tell_;
};

}  // namespace

Ran runKubexx(const std::vector<std::string>& arguments, const RunOptions& options) {
  std::istringstream in(options.input);
  TellingBuffer printed(options.onFlush);
  std::ostream out(&printed);
  std::ostringstream err;
  CLI::App app("A Kubernetes command line", "kubexx");
  app.require_subcommand(1);
  Invocation invocation(in, out, err);
  invocation.setStop({});  // tests have no use for signals
  addClusterCommands(app, invocation, arguments);
  if (options.prepare) options.prepare(invocation);
  const int code = runProgram(app, invocation, arguments);
  return {code, printed.str(), err.str()};
}

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

CliTest::CliTest(Clock* clock)
    : server_(std::make_unique<testing::ApiServer>(testing::ApiServerOptions{.clock = clock})) {
  static int count = 0;
  folder_ = (std::filesystem::temp_directory_path() /
             ("kubexx-cli-" + std::to_string(::getpid()) + "-" + std::to_string(++count)))
                .string();
  std::filesystem::create_directories(folder_);
  file("config", server_->kubeconfig());
}

CliTest::~CliTest() { std::filesystem::remove_all(folder_); }

std::string CliTest::file(const std::string& name, const std::string& text) const {
  const std::filesystem::path path = std::filesystem::path(folder_) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
  return path.string();
}

Ran CliTest::run(std::vector<std::string> arguments, const RunOptions& options) const {
  arguments.insert(arguments.begin(),
                   {"--kubeconfig", folder_ + "/config", "--cache-dir", folder_ + "/cache"});
  return runKubexx(arguments, options);
}

std::string CliTest::out(const std::string& words, const std::string& input) const {
  const Ran ran = run(wordsOf(words), {.input = input});
  if (ran.code == 0) return ran.out;
  return "exit " + std::to_string(ran.code) + ": " + ran.out + ran.err;
}

namespace {

TEST(Program, SaysWhatIsWrongWithACommandLine) {
  const Ran flag = runKubexx({"get", "pods", "--nonsense"});
  EXPECT_EQ(flag.code, 1);
  EXPECT_NE(flag.err.find("--nonsense"), std::string::npos) << flag.err;
  EXPECT_EQ(runKubexx({"dance"}).code, 1);
  const Ran help = runKubexx({"get", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("--field-selector"), std::string::npos) << help.out;
}

TEST_F(CliTest, SaysThatThereIsNoServer) {
  const Ran ran = run({"get", "pods", "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err,
            "The connection to the server 127.0.0.1:1 was refused - did you specify the right host "
            "or port?\n");
}

}  // namespace
}  // namespace kube::cmd
