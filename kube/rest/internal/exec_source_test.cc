#include "kube/rest/internal/exec_source.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "kube/codec/json.h"
#include "kube/rest/environment_testing.h"
#include "kube/testing/test_ca.h"

namespace kube {
namespace {

using namespace std::chrono_literals;
using test::messageOf;
using test::ScopedVariable;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kV1[] = "client.authentication.k8s.io/v1";
constexpr char kV1beta1[] = "client.authentication.k8s.io/v1beta1";

std::string credential(std::string_view status, std::string_view version = kV1) {
  return R"({"kind":"ExecCredential","apiVersion":")" + std::string(version) + R"(","status":)" +
         std::string(status) + "}";
}

/// A plugin that is a shell script. It records each run, and prints the file `answer`.
class ExecPluginTest : public ::testing::Test {
 protected:
  ExecPluginTest() { answer(R"({"token":"one"})"); }

  void answer(std::string_view status, std::string_view version = kV1) {
    folder.write("answer", credential(status, version));
  }
  void script(std::string_view body) {
    config.exec->command = folder.write(
        "plugin", "#!/bin/sh\ncd " + folder.path() + "\necho x >>runs\n" + std::string(body) + "\n",
        true);
  }
  std::size_t runs() const { return test::readAll(folder.path("runs")).size() / 2; }

  std::shared_ptr<Credentials> make() { return makeCredentials(config, options()); }
  CredentialsOptions options() {
    return {.clock = &clock, .stdinIsTerminal = [this] { return terminal; }};
  }
  std::string token(Credentials& credentials) {
    HttpHeaders headers;
    grant = credentials.apply(headers);
    return headers.empty() ? "" : headers.begin()->value;
  }
  std::string failure() {
    return messageOf<Error>([&] {
      const auto made = make();
      token(*made);
    });
  }

  // The message of a failure, or nothing.
  std::string attempt() {
    try {
      const auto made = make();
      token(*made);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  TemporaryFolder folder;
  FakeClock clock;
  bool terminal = false;
  Credentials::Grant grant;
  Config config{
      .host = "https://example.com:6443",
      .exec = ExecConfig{
          .command = folder.write(
              "plugin", "#!/bin/sh\ncd " + folder.path() + "\necho x >>runs\ncat answer\n", true),
          .apiVersion = kV1,
          .interactiveMode = "Never"}};
};

TEST_F(ExecPluginTest, APolicySaysWhichPluginsRun) {
  using Type = PluginPolicy::Type;
  const std::string path = config.exec->command.str();
  const auto runs = [&](const PluginPolicy& policy) {
    config.pluginPolicy = policy;
    const std::string why = attempt();
    if (!why.empty()) {
      EXPECT_THAT(why, HasSubstr("the plugin policy does not allow to run"));
    }
    return why.empty();
  };
  Metrics metrics;
  config.metrics = &metrics;
  EXPECT_TRUE(runs({}));
  EXPECT_FALSE(runs({.type = Type::DenyAll}));
  EXPECT_TRUE(runs({.type = Type::Allowlist, .allowlist = {"other", path}}));
  EXPECT_FALSE(runs({.type = Type::Allowlist, .allowlist = {"plugin"}}));
  EXPECT_THAT(metrics.text(),
              AllOf(HasSubstr("rest_client_exec_plugin_policy_call_total{status=\"allowed\"} 2"),
                    HasSubstr("rest_client_exec_plugin_policy_call_total{status=\"denied\"} 2")));

  // Names are looked up in $PATH, on both sides.
  const ScopedVariable variable("PATH", folder.path() + ":/usr/bin:/bin");
  EXPECT_TRUE(runs({.type = Type::Allowlist, .allowlist = {"plugin"}}));
  config.exec->command = "plugin";
  EXPECT_TRUE(runs({.type = Type::Allowlist, .allowlist = {"plugin"}}));
  EXPECT_TRUE(runs({.type = Type::Allowlist, .allowlist = {path}}));
  EXPECT_FALSE(runs({.type = Type::Allowlist, .allowlist = {"sh"}}));
  // A file in the working folder is not the program of that name.
  config.exec->command = "./plugin";
  EXPECT_FALSE(runs({.type = Type::Allowlist, .allowlist = {"plugin", path}}));
  config.exec->command =
      folder.path() + "/../" + folder.path().substr(folder.path().rfind('/') + 1) + "/plugin";
  EXPECT_FALSE(runs({.type = Type::Allowlist, .allowlist = {path}}));
}

TEST_F(ExecPluginTest, APolicyThatProtectsNothingIsAMistake) {
  using Type = PluginPolicy::Type;
  for (const PluginPolicy& wrong :
       {PluginPolicy{.type = Type::AllowAll, .allowlist = {"a"}},
        PluginPolicy{.type = Type::DenyAll, .allowlist = {"a"}},
        PluginPolicy{.type = Type::Allowlist},
        PluginPolicy{.type = Type::Allowlist, .allowlist = {"a", ""}}}) {
    config.pluginPolicy = wrong;
    EXPECT_THAT(messageOf<ConfigError>([&] { make(); }), HasSubstr("pluginPolicy: "));
  }
}

TEST_F(ExecPluginTest, ItsRunsAreCounted) {
  Metrics metrics;
  config.metrics = &metrics;
  const auto count = [&](std::string_view labels) {
    return metrics.text().find(fmt::format("rest_client_exec_plugin_call_total{{{}}} 1\n",
                                           labels)) != std::string::npos;
  };
  attempt();
  EXPECT_TRUE(count("code=\"0\",call_status=\"no_error\""));
  script("exit 3");
  failure();
  EXPECT_TRUE(count("code=\"3\",call_status=\"plugin_execution_error\""));
  config.exec->command = folder.path("missing");
  failure();
  EXPECT_TRUE(count("code=\"1\",call_status=\"plugin_not_found_error\""));
}

TEST_F(ExecPluginTest, TheLifeOfItsCertificatesIsMeasured) {
  Metrics metrics;
  config.metrics = &metrics;
  const TestCa ca;
  const auto give = [&](const KeyPair& pair, std::string_view expires) {
    answer(toJson(Value::Object{{"clientCertificateData", pair.certPem},
                                {"clientKeyData", pair.keyPem},
                                {"expirationTimestamp", std::string(expires)}}));
  };
  give(ca.client("one"), "2024-01-01T00:01:00Z");
  {
    const auto made = make();
    EXPECT_THAT(metrics.text(), HasSubstr("rest_client_exec_plugin_ttl_seconds +Inf"));
    token(*made);
    EXPECT_THAT(metrics.text(), AllOf(Not(HasSubstr("rest_client_exec_plugin_ttl_seconds +Inf")),
                                      HasSubstr("rotation_age_count 0")));
    give(ca.client("two"), "2024-01-01T01:00:00Z");
    clock.advance(2min);
    token(*made);
    EXPECT_THAT(metrics.text(), HasSubstr("rotation_age_count 1"));
  }
  EXPECT_THAT(metrics.text(), HasSubstr("rest_client_exec_plugin_ttl_seconds +Inf"));
}

TEST_F(ExecPluginTest, GivesATokenThatIsKept) {
  const auto made = make();
  EXPECT_EQ(runs(), 0U);
  EXPECT_EQ(token(*made), "Bearer one");
  clock.advance(1000h);
  EXPECT_EQ(token(*made), "Bearer one");
  EXPECT_EQ(runs(), 1U);
}

TEST_F(ExecPluginTest, IsRunAgainWhenItsTokenHasExpired) {
  answer(R"({"token":"one","expirationTimestamp":"2024-01-01T00:10:00Z"})");
  const auto made = make();
  EXPECT_EQ(token(*made), "Bearer one");
  answer(R"({"token":"two"})");
  clock.advance(10min);
  EXPECT_EQ(token(*made), "Bearer one");
  clock.advance(1s);
  EXPECT_EQ(token(*made), "Bearer two");
  EXPECT_EQ(runs(), 2U);
}

TEST_F(ExecPluginTest, IsRunAgainWhenItsTokenIsRefused) {
  const auto made = make();
  token(*made);
  const Credentials::Grant first = grant;
  EXPECT_FALSE(made->refresh(first));  // the plugin returns the same token
  EXPECT_EQ(runs(), 2U);
  answer(R"({"token":"two"})");
  EXPECT_TRUE(made->refresh(first));
  EXPECT_TRUE(made->refresh(first));  // the plugin does not run twice for the same refusal
  EXPECT_EQ(runs(), 3U);
  EXPECT_EQ(token(*made), "Bearer two");
  script("exit 3");
  EXPECT_FALSE(made->refresh(grant));  // logged
  EXPECT_EQ(token(*made), "Bearer two");
}

TEST_F(ExecPluginTest, GivesACertificateThatStaysTheSameObject) {
  const auto status = [](std::string_view certificate, std::string_view key) {
    return toJson(Value::Object{{"clientCertificateData", certificate}, {"clientKeyData", key}});
  };
  answer(status(test::kCertificate1, test::kKey1));
  const auto made = make();
  EXPECT_EQ(token(*made), "");
  const auto first = grant.certificate;
  ASSERT_TRUE(first);
  EXPECT_EQ(first->certData, test::kCertificate1);
  EXPECT_EQ(first->keyData, test::kKey1);
  EXPECT_FALSE(made->refresh(grant));
  token(*made);
  EXPECT_EQ(grant.certificate, first);
  answer(status(test::kCertificate2, test::kKey2));
  EXPECT_TRUE(made->refresh(grant));
  token(*made);
  EXPECT_EQ(grant.certificate->certData, test::kCertificate2);

  answer(status(test::kCertificate1, test::kKey2));
  EXPECT_THAT(failure(), HasSubstr("does not belong"));
  answer(status(test::kCertificate1, ""));
  EXPECT_THAT(failure(), HasSubstr("only one of certificate and key"));
}

TEST_F(ExecPluginTest, GetsTheRequestInItsEnvironment) {
  script("printf %s \"$KUBERNETES_EXEC_INFO\" >info; echo \"$1|$2|$OWN|$HOME\" >args; cat answer");
  config.exec->args = {"a b", "c"};
  config.exec->env = {{.name = "OWN", .value = "x y"}, {.name = "HOME", .value = "over"}};
  token(*make());
  EXPECT_EQ(test::readAll(folder.path("args")), "a b|c|x y|over\n");
  EXPECT_EQ(test::readAll(folder.path("info")),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":false}})");
}

TEST_F(ExecPluginTest, GetsTheClusterOnlyIfConfigured) {
  script("printf %s \"$KUBERNETES_EXEC_INFO\" >info; cat answer");
  config.exec->provideClusterInfo = true;
  config.exec->clusterConfig.raw = R"({"audience":"me"})";
  config.tls.caFile = folder.write("ca", "CA");
  config.tls.serverName = "name";
  config.proxy = "http://proxy";
  config.disableCompression = true;
  token(*make());
  EXPECT_EQ(test::readAll(folder.path("info")),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{)"
            R"("cluster":{"server":"https://example.com:6443","tls-server-name":"name",)"
            R"("certificate-authority-data":"Q0E=","proxy-url":"http://proxy",)"
            R"("disable-compression":true,"config":{"audience":"me"}},"interactive":false}})");
  config.exec->clusterConfig = {};
  config.tls = {};
  token(*make());
  EXPECT_THAT(test::readAll(folder.path("info")), HasSubstr(R"("config":null},)"));
}

TEST_F(ExecPluginTest, OfTheOlderVersionWorksToo) {
  config.exec->apiVersion = kV1beta1;
  config.exec->interactiveMode = "";
  answer(R"({"token":"old"})", kV1beta1);
  EXPECT_EQ(token(*make()), "Bearer old");
  answer(R"({"token":"old"})", kV1);
  EXPECT_THAT(failure(),
              AllOf(HasSubstr(kV1beta1), HasSubstr("\"client.authentication.k8s.io/v1\"")));
}

TEST_F(ExecPluginTest, ReadsTheTerminalOnlyIfItMay) {
  script("printf %s \"$KUBERNETES_EXEC_INFO\" | grep -o 'interactive.*' >info; cat answer");
  const auto interactive = [&] {
    token(*make());
    return test::readAll(folder.path("info")) == "interactive\":true}}\n";
  };
  const auto mode = [&](std::string_view mode, bool isTerminal, bool unavailable = false) {
    config.exec->interactiveMode = mode;
    config.exec->stdinUnavailable = unavailable;
    config.exec->stdinUnavailableMessage = "used for manifests";
    terminal = isTerminal;
  };
  mode("Never", true);
  EXPECT_FALSE(interactive());
  mode("IfAvailable", false);
  EXPECT_FALSE(interactive());
  mode("IfAvailable", true, true);
  EXPECT_FALSE(interactive());
  mode("IfAvailable", true);
  EXPECT_TRUE(interactive());
  mode("Always", true);
  EXPECT_TRUE(interactive());
  mode("Always", false);
  EXPECT_THAT(failure(), HasSubstr("not a terminal"));
  mode("Always", true, true);
  EXPECT_THAT(failure(), HasSubstr("unavailable: used for manifests"));
}

TEST_F(ExecPluginTest, WithoutTheTerminalReadsNothing) {
  script("cat; cat answer");
  EXPECT_EQ(token(*make()), "Bearer one");
}

TEST_F(ExecPluginTest, ThatIsMissingIsAnErrorWithItsHint) {
  config.exec->command = "kubexx-test-no-such-plugin";
  config.exec->installHint = "run \x1b[1minstall\nit";
  EXPECT_THAT(failure(), AllOf(HasSubstr("exec plugin kubexx-test-no-such-plugin: there is no such "
                                         "program in $PATH\n\nrun U+001B[1minstall\nit"),
                               Not(HasSubstr("\x1b"))));
  config.exec->command = folder.path("none");
  config.exec->installHint = "";
  EXPECT_THAT(failure(), HasSubstr(folder.path("none") + ": there is no such program"));
  config.exec->command = folder.write("plain", "not executable");
  EXPECT_THAT(failure(), HasSubstr("there is no such program"));
}

TEST_F(ExecPluginTest, IsLookedUpInThePath) {
  config.exec->command = "plugin";
  const ScopedVariable path("PATH", "relative::" + folder.path() + ":/usr/bin:/bin");
  EXPECT_EQ(token(*make()), "Bearer one");
}

TEST_F(ExecPluginTest, ThatFailsIsAnErrorWithItsExitCode) {
  script("echo hunter2; exit 7");
  EXPECT_THAT(failure(), AllOf(HasSubstr("exit code 7"), Not(HasSubstr("hunter2"))));
  script("kill -9 $$");
  EXPECT_THAT(failure(), HasSubstr("signal 9"));
  config.exec->command = folder.write("broken", "#!/no/such/interpreter\n", true);
  EXPECT_THAT(failure(), HasSubstr("cannot run"));
}

TEST_F(ExecPluginTest, ThatPrintsNonsenseIsAnErrorWithoutItsOutput) {
  script("cat answer");
  const auto says = [&](std::string_view text) {
    folder.write("answer", text);
    const std::string message = failure();
    EXPECT_THAT(message, Not(HasSubstr("hunter2")));
    return message;
  };
  EXPECT_THAT(says("{\"hunter2"), HasSubstr("its output is not a valid ExecCredential"));
  EXPECT_THAT(says(""), HasSubstr("its output is not a valid ExecCredential"));
  EXPECT_THAT(says("hunter2"), HasSubstr("its output is not a valid ExecCredential"));
  EXPECT_THAT(says(credential(R"({"token":{"hunter2":1}})")), HasSubstr("status.token"));
  EXPECT_THAT(says(R"({"kind":"Pod","apiVersion":"v1"})"), HasSubstr("kind \"Pod\" of \"v1\""));
  EXPECT_THAT(says(R"({"kind":"ExecCredential","apiVersion":")" + std::string(kV1) + "\"}"),
              HasSubstr("no status"));
  EXPECT_THAT(says(credential("{}")), HasSubstr("neither a token nor a certificate"));
  EXPECT_THAT(says(credential(R"({"token":"hunter2\r\nX: y"})")), HasSubstr("status.token"));
  EXPECT_THAT(says(credential(R"({"token":"hunter2","expirationTimestamp":"soon"})")),
              HasSubstr("status.expirationTimestamp"));
}

TEST_F(ExecPluginTest, WritesNoMoreThanAMebibyte) {
  script("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done");
  EXPECT_THAT(failure(), HasSubstr("it wrote more than 1048576 bytes"));
}

TEST_F(ExecPluginTest, IsEndedAfterATime) {
  script("mkfifo never; exec cat <never");
  std::string message;
  std::thread asking([&] { message = failure(); });
  clock.waitForWaiters(1);
  clock.advance(5min);
  asking.join();
  EXPECT_THAT(message, HasSubstr("took too long"));
}

TEST_F(ExecPluginTest, IsEndedAlsoWhenItHasClosedItsOutput) {
  script("mkfifo never; exec >&-; exec cat <never");
  std::string message;
  std::thread asking([&] { message = failure(); });
  clock.waitForWaiters(1);
  clock.advance(5min);
  asking.join();
  EXPECT_THAT(message, HasSubstr("took too long"));
}

TEST_F(ExecPluginTest, IsEndedOnAStopAndTheNextInLineAsks) {
  // The first run waits for ever; later runs answer.
  script("if mkdir first 2>/dev/null; then mkfifo never; exec cat <never; fi; cat answer");
  const auto made = make();
  std::stop_source stop;
  std::thread first([&] {
    HttpHeaders headers;
    EXPECT_THROW(made->apply(headers, stop.get_token()), CanceledError);
  });
  clock.waitForWaiters(1);  // its timeout: it is running
  while (!std::filesystem::exists(folder.path("never"))) std::this_thread::yield();
  std::string second;
  std::thread next([&] {
    HttpHeaders headers;
    made->apply(headers);
    second = headers.begin()->value;
  });
  stop.request_stop();
  first.join();
  next.join();
  EXPECT_EQ(second, "Bearer one");
}

TEST_F(ExecPluginTest, IsEndedAtTheDeadlineOfItsRequestAndTheNextInLineAsks) {
  script("if mkdir first 2>/dev/null; then mkfifo never; exec cat <never; fi; cat answer");
  const auto made = make();
  std::string message;
  std::thread first([&] {
    HttpHeaders headers;
    message = messageOf<TimeoutError>([&] { made->apply(headers, {}, clock.now() + 3s); });
  });
  clock.waitForWaiters(2);  // its own timeout, and the request's
  while (!std::filesystem::exists(folder.path("never"))) std::this_thread::yield();
  std::string second;
  std::thread next([&] {
    HttpHeaders headers;
    made->apply(headers, {}, clock.now() + 1h);
    second = headers.begin()->value;
  });
  clock.waitForWaiters(3);
  clock.advance(3s);
  first.join();
  next.join();
  EXPECT_THAT(message, AllOf(HasSubstr("exec plugin"), HasSubstr("out of time")));
  EXPECT_EQ(second, "Bearer one");
}

TEST_F(ExecPluginTest, WaitersHaveTheirOwnDeadlines) {
  script("mkfifo never; exec cat <never");
  const auto made = make();
  std::stop_source stop;
  std::thread first([&] {
    HttpHeaders headers;
    EXPECT_THROW(made->apply(headers, stop.get_token()), CanceledError);
  });
  clock.waitForWaiters(1);
  std::thread second([&] {
    HttpHeaders headers;
    EXPECT_THROW(made->apply(headers, {}, clock.now() + 1s), TimeoutError);
  });
  clock.waitForWaiters(2);
  clock.advance(1s);
  second.join();
  stop.request_stop();
  first.join();
}

TEST_F(ExecPluginTest, WaitersStopOnTheirOwn) {
  script("mkfifo never; exec cat <never");
  const auto made = make();
  std::stop_source firstStop, secondStop;
  const auto asking = [&](std::stop_source& stop) {
    return std::thread([&] {
      HttpHeaders headers;
      EXPECT_THROW(made->apply(headers, stop.get_token()), CanceledError);
    });
  };
  std::thread first = asking(firstStop);
  clock.waitForWaiters(1);
  std::thread second = asking(secondStop);
  secondStop.request_stop();
  second.join();
  firstStop.request_stop();
  first.join();
}

TEST_F(ExecPluginTest, RunsOnceForAllThreads) {
  script("cat gate >/dev/null; cat answer");
  ASSERT_EQ(std::system(("mkfifo " + folder.path("gate")).c_str()), 0);
  const auto made = make();
  std::atomic<int> served = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      HttpHeaders headers;
      made->apply(headers);
      served += headers.begin()->value == "Bearer one" ? 1 : 0;
    });
  }
  folder.write("gate", "open");
  threads.clear();
  EXPECT_EQ(served, 8);
  EXPECT_EQ(runs(), 1U);
}

TEST_F(ExecPluginTest, IsNotRunIfThereAreOtherCredentials) {
  config.bearerToken = "given";
  EXPECT_EQ(token(*make()), "Bearer given");
  config.bearerToken = "";
  config.tls.certFile = "/cert";
  EXPECT_EQ(token(*make()), "");
  EXPECT_EQ(runs(), 0U);
}

TEST_F(ExecPluginTest, WithInvalidSettingsIsRefusedAtOnce) {
  const auto refused = [&](auto change) {
    Config bad = config;
    change(*bad.exec);
    return messageOf([&] { makeCredentials(bad, options()); });
  };
  EXPECT_THAT(refused([](ExecConfig& e) { e.command = ""; }), HasSubstr("command"));
  EXPECT_THAT(
      refused([](ExecConfig& e) { e.apiVersion = "client.authentication.k8s.io/v1alpha1"; }),
      HasSubstr("v1alpha1"));
  EXPECT_THAT(refused([](ExecConfig& e) { e.interactiveMode = ""; }), HasSubstr("interactiveMode"));
  EXPECT_THAT(refused([](ExecConfig& e) { e.env = {{.name = "A=B", .value = "x"}}; }),
              HasSubstr("env"));
}

}  // namespace
}  // namespace kube
