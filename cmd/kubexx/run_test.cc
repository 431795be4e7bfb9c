#include "cmd/kubexx/run_testing.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/terminal_text.h"
#include "kube/base/joined.h"
#include "kube/http/http_server.h"
#include "kube/testing/test_ca.h"

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
  std::optional<TerminalText> shownOut, shownErr;
  if (options.terminal) {
    shownOut.emplace(out);
    shownErr.emplace(err);
  }
  Invocation invocation(in, out, err);
  invocation.terminal = options.terminal;
  invocation.setStop({});  // instead of signals
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

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(ProgramTest, ReportsErrorsOfTheCommandLine) {
  const Ran flag = runKubexx({"get", "pods", "--nonsense"});
  EXPECT_EQ(flag.code, 1);
  EXPECT_NE(flag.err.find("--nonsense"), std::string::npos) << flag.err;
  const Ran help = runKubexx({"get", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("--field-selector"), std::string::npos) << help.out;
}

TEST(ProgramTest, SuggestsCommandsAndFlags) {
  const auto said = [](std::vector<std::string> words) {
    const Ran ran = runKubexx(words);
    EXPECT_EQ(ran.code, 1);
    return ran.err.substr(0, ran.err.find('\n'));
  };
  EXPECT_EQ(said({"aply"}), "error: unknown command \"aply\"; did you mean \"apply\"?");
  EXPECT_EQ(said({"-n", "book", "gte", "pods"}),
            "error: unknown command \"gte\"; did you mean \"get\"?");
  EXPECT_EQ(said({"comp"}), "error: unknown command \"comp\"; did you mean \"completion\"?");
  EXPECT_THAT(said({"describe", "pod", "web"}),
              StartsWith("error: unknown command \"describe\"; there are: get, watch, apply, "));
  // An unknown command with a known one among its arguments.
  EXPECT_THAT(said({"auth", "can-i", "get", "pods"}),
              StartsWith("error: unknown command \"auth\"; there are: "));
  EXPECT_EQ(said({"config", "use-contxt", "dev"}),
            "error: unknown command \"use-contxt\" of config; did you mean \"use-context\"?");
  EXPECT_THAT(said({"config", "rename", "dev"}),
              AllOf(StartsWith("error: unknown command \"rename\" of config; there are: "),
                    HasSubstr("use-context")));
  EXPECT_THAT(said({"config"}), StartsWith("error: config: a command is missing; there are: "));
  EXPECT_THAT(said({}), AllOf(StartsWith("error: a command is missing; there are: get, "),
                              Not(HasSubstr("__complete"))));
  EXPECT_EQ(said({"exec"}), "error: pod is required");
  EXPECT_EQ(said({"get", "pods", "--nonsense"}), "error: unknown flag: --nonsense");
  EXPECT_EQ(said({"get", "pods", "--feild-selector=a"}),
            "error: unknown flag: --feild-selector; did you mean --field-selector?");
}

TEST(ProgramTest, ErrorsDoNotQuoteSecrets) {
  using Words = std::vector<std::string>;
  for (const Words& words :
       {Words{"--tokn", "hunter2", "get", "pods"}, Words{"get", "pods", "--tokn=hunter2"},
        Words{"get", "pods", "-thunter2"}, Words{"--tokn", "hunter2"},
        Words{"create", "secret", "generic", "x", "--from-literal", "hunter2", "--dry-run=client"},
        Words{"get", "pods", "--server", "http://u:hunter2@a"},
        Words{"get", "pods", "--server", "https://127.0.0.1:1", "--token", "hunter2\n"}}) {
    const Ran ran = runKubexx(words);
    EXPECT_EQ(ran.code, 1) << joined(words, " ");
    EXPECT_NE(ran.err, "");
    EXPECT_THAT(ran.err, Not(HasSubstr("hunter2"))) << joined(words, " ");
  }
}

// --- Secrets stay with trusted servers.

constexpr const char* kInsecure = R"(
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1', insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: hunter2}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
)";

TEST_F(CliTest, SecretsAreNotSentWithoutTls) {
  std::atomic<int> requests = 0;
  HttpServer plain({}, [&](const ServerRequest& request, const Responder& responder) {
    ++requests;
    EXPECT_FALSE(request.headers.has("Authorization"));
    responder.send({.headers = {{"Content-Type", "application/json"}}, .body = "{}"});
  });
  using Flags = std::vector<std::string>;
  for (const Flags& flags :
       {Flags{"--token", "hunter2"}, Flags{"--username", "a"}, Flags{"--password", "hunter2"}}) {
    Flags words{"get", "--raw", "/version", "--server", plain.url()};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err,
                AllOf(StartsWith("error: " + plain.url() + ": "), HasSubstr("not sent without TLS"),
                      HasSubstr("https://"), Not(HasSubstr("hunter2"))));
  }
  EXPECT_EQ(requests, 0);
  // Secrets of the kubeconfig are left out, and the request is sent without them.
  const std::string config = file("insecure", kInsecure);
  EXPECT_EQ(runKubexx({"get", "--raw", "/version", "--kubeconfig", config, "-s", plain.url()}).code,
            0);
  EXPECT_EQ(requests, 1);
}

TEST_F(CliTest, UsesTheCertificateAuthorityOfTheCommandLine) {
  const std::string config = file("insecure", kInsecure);
  const std::string ca = file("ca.crt", server_->caPem());
  const auto loaded = [&](ClusterFlags flags) {
    flags.kubeconfig = config;
    return flags.load().tls;
  };
  EXPECT_TRUE(loaded({}).insecureSkipVerify);
  const TlsConfig checked = loaded({.certificateAuthority = ca});
  EXPECT_FALSE(checked.insecureSkipVerify) << "whatever the kubeconfig says";
  EXPECT_EQ(checked.caFile, ca);
  const TlsConfig trusting = loaded({.insecureSkipTlsVerify = true});
  EXPECT_TRUE(trusting.insecureSkipVerify);
  EXPECT_EQ(trusting.caFile, "");
  const Ran both =
      run({"get", "pods", "--certificate-authority", ca, "--insecure-skip-tls-verify"});
  EXPECT_EQ(both.code, 1);
  EXPECT_THAT(both.err, HasSubstr("only one of both"));
  // An authority that did not sign the server's certificate.
  const Ran other = run({"get", "pods", "--kubeconfig", config, "--server", server_->url(),
                         "--certificate-authority", file("other.crt", TestCa().certPem())});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("certificate verify failed"));
}

TEST_F(CliTest, NamesAMissingKubeconfig) {
  const Ran named = runKubexx({"get", "pods", "--kubeconfig", folder_ + "/none"});
  EXPECT_EQ(named.code, 1);
  EXPECT_THAT(named.err, AllOf(StartsWith("error: " + folder_ + "/none: "),
                               HasSubstr("No such file or directory")));
}

TEST_F(CliTest, ReportsARefusedConnection) {
  const Ran ran = run({"get", "pods", "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err,
            "The connection to the server 127.0.0.1:1 was refused - did you specify the right host "
            "or port?\n");
}

}  // namespace
}  // namespace kube::cmd
