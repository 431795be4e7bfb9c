// No threads.

#include "kube/rest/config.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "kube/base/internal/base64.h"
#include "kube/base/version.h"
#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using test::messageOf;
using test::ScopedVariable;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string base64(std::string_view text) {
  std::string out;
  detail::base64Encode(text, out);
  return out;
}

/// An environment without kubeconfig and pod, whatever the tests run in.
class ConfigLoadTest : public ::testing::Test {
 protected:
  /// Makes a pod's service account; the test sets the environment.
  std::string serviceAccount(std::string_view token = "pod-token\n") {
    folder.write("sa/token", token);
    folder.write("sa/ca.crt", test::kCertificate1);
    folder.write("sa/namespace", "pod-space\n");
    return folder.path("sa");
  }

  TemporaryFolder folder;
  ScopedVariable home{"HOME", folder.path("home")};
  ScopedVariable kubeconfig{"KUBECONFIG"};
  ScopedVariable host{"KUBERNETES_SERVICE_HOST"};
  ScopedVariable port{"KUBERNETES_SERVICE_PORT"};
  ScopedVariable podNamespace{"POD_NAMESPACE"};
};

constexpr char kTwoContexts[] = R"(
clusters:
- {name: one, cluster: {server: 'https://one:6443', tls-server-name: one.example}}
- {name: two, cluster: {server: 'https://two/prefix/?x=y', proxy-url: 'http://proxy', disable-compression: true}}
users:
- {name: jane, user: {token: t1}}
- {name: bob, user: {username: bob, password: pw, as: root, as-uid: '1', as-groups: [a, b], as-user-extra: {k: [v]}}}
contexts:
- {name: first, context: {cluster: one, user: jane}}
- {name: second, context: {cluster: two, user: bob, namespace: book}}
- {name: lost, context: {cluster: one, user: nobody}}
- {name: anonymous, context: {cluster: one, user: ''}}
current-context: first
)";

TEST_F(ConfigLoadTest, TakesTheCurrentContext) {
  const Config config = Config::fromKubeconfig(kTwoContexts);
  EXPECT_EQ(config.host, "https://one:6443");
  EXPECT_EQ(config.tls.serverName, "one.example");
  EXPECT_EQ(config.bearerToken, "t1");
  EXPECT_EQ(config.namespace_, "default");
  EXPECT_EQ(config.qps, 50);
  EXPECT_EQ(config.burst, 100);
}

TEST_F(ConfigLoadTest, OptionsWin) {
  Config config = Config::fromKubeconfig(kTwoContexts, {.context = "second"});
  EXPECT_EQ(config.serverUrl().str(), "https://two/prefix");
  EXPECT_EQ(config.proxy, "http://proxy");
  EXPECT_TRUE(config.disableCompression);
  EXPECT_EQ(config.username, "bob");
  EXPECT_EQ(config.password, "pw");
  EXPECT_EQ(config.namespace_, "book");
  EXPECT_EQ(
      config.impersonate,
      (Impersonation{.user = "root", .uid = "1", .groups = {"a", "b"}, .extra = {{"k", {"v"}}}}));

  config = Config::fromKubeconfig(
      kTwoContexts, {.context = "second", .cluster = "one", .user = "jane", .namespace_ = "mine"});
  EXPECT_EQ(config.host, "https://one:6443");
  EXPECT_EQ(config.bearerToken, "t1");
  EXPECT_EQ(config.username, "");
  EXPECT_EQ(config.namespace_, "mine");

  // The server name belonged to another server.
  config = Config::fromKubeconfig(kTwoContexts, {.server = "https://three"});
  EXPECT_EQ(config.host, "https://three");
  EXPECT_EQ(config.tls.serverName, "");
  EXPECT_EQ(config.bearerToken, "t1");
}

TEST_F(ConfigLoadTest, MissingEntriesAreNamed) {
  const auto load = [](const LoadOptions& options) {
    return messageOf([&] { Config::fromKubeconfig(kTwoContexts, options); });
  };
  EXPECT_THAT(load({.context = "none"}),
              AllOf(HasSubstr("there is no context \"none\""), HasSubstr("first")));
  EXPECT_THAT(load({.cluster = "none"}), HasSubstr("there is no cluster \"none\""));
  EXPECT_THAT(load({.user = "none"}), HasSubstr("there is no user \"none\""));
  EXPECT_THAT(load({.context = "lost"}),
              HasSubstr("contexts[\"lost\"].user: there is no user \"nobody\""));
  EXPECT_THAT(messageOf([] { Config::fromKubeconfig("{}"); }), HasSubstr("no current-context"));
  EXPECT_EQ(Config::fromKubeconfig(kTwoContexts, {.context = "anonymous"}).bearerToken, "");
}

TEST_F(ConfigLoadTest, ProblemsAreToldWithFileAndField) {
  const std::string file =
      folder.write("config",
                   "clusters: [{name: c, cluster: {server: 'ftp://x'}}]\n"
                   "users: [{name: u, user: {token: hunter2, username: x}}]\n"
                   "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n");
  EXPECT_THAT(messageOf([&] { Config::load({.path = file}); }),
              AllOf(HasSubstr(file + ": users[\"u\"].token"), Not(HasSubstr("hunter2"))));
  folder.write("config",
               "clusters: [{name: c, cluster: {server: 'ftp://x'}}]\n"
               "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n");
  EXPECT_THAT(messageOf([&] { Config::load({.path = file}); }),
              HasSubstr(file + ": clusters[\"c\"].server: "));
}

TEST_F(ConfigLoadTest, SecretsAreSentOverTlsOnly) {
  const auto text = [](std::string_view server) {
    return "clusters: [{name: c, cluster: {server: '" + std::string(server) +
           "', insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {token: t, as: root}}]\n"
           "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n";
  };
  EXPECT_EQ(Config::fromKubeconfig(text("https://c")).bearerToken, "t");
  for (const char* plain : {"http://c", "c:8080"}) {
    const Config config = Config::fromKubeconfig(text(plain));
    EXPECT_EQ(config.bearerToken, "") << plain;
    EXPECT_EQ(config.serverUrl().scheme, "http");
    EXPECT_EQ(config.impersonate.user, "root");
  }
}

// --- Certificates.

TEST_F(ConfigLoadTest, CertificatesAreDataOrFilesBesideTheKubeconfig) {
  folder.write("pki/ca.crt", test::kCertificate2);
  folder.write("pki/jane.crt", test::kCertificate1);
  const std::string file = folder.write(
      "config",
      "clusters: [{name: c, cluster: {server: 'https://c', certificate-authority: pki/ca.crt}}]\n"
      "users: [{name: u, user: {client-certificate: pki/jane.crt, client-key-data: " +
          base64(test::kKey1) +
          "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n");
  const Config config = Config::load({.path = file});
  EXPECT_EQ(config.tls.caFile, folder.path("pki/ca.crt"));
  EXPECT_EQ(config.tls.certFile, folder.path("pki/jane.crt"));
  EXPECT_EQ(config.tls.keyData, test::kKey1);
}

std::string withUser(std::string_view user, std::string_view cluster = {}) {
  return "clusters: [{name: c, cluster: {server: 'https://c'" + std::string(cluster) +
         "}}]\nusers: [{name: u, user: {" + std::string(user) +
         "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n";
}

TEST_F(ConfigLoadTest, AKeyMustBelongToItsCertificate) {
  const auto load = [](std::string_view certificate, std::string_view key) {
    return Config::fromKubeconfig(withUser("client-certificate-data: " + base64(certificate) +
                                           ", client-key-data: " + base64(key)));
  };
  EXPECT_EQ(load(test::kCertificate1, test::kKey1).tls.certData, test::kCertificate1);
  EXPECT_THAT(messageOf([&] { load(test::kCertificate1, test::kKey2); }),
              AllOf(HasSubstr("users[\"u\"].client-certificate-data"),
                    HasSubstr("does not belong to the certificate")));
  EXPECT_THAT(messageOf([&] { load("junk", test::kKey1); }),
              HasSubstr("the certificate is not PEM"));
  EXPECT_THAT(messageOf([&] { load(test::kCertificate1, "junk"); }),
              HasSubstr("the key is not PEM"));
  EXPECT_THAT(messageOf([&] { load(test::kCertificate1, test::kLockedKey1); }),
              HasSubstr("needs no pass phrase"));
}

TEST_F(ConfigLoadTest, AuthoritiesMustBeCertificates) {
  const auto load = [](std::string_view cluster) {
    return Config::fromKubeconfig(withUser("token: t", cluster));
  };
  const std::string good = ", certificate-authority-data: " + base64(test::kCertificate1);
  EXPECT_EQ(load(good).tls.caData, test::kCertificate1);
  EXPECT_THAT(messageOf([&] { load(", certificate-authority-data: " + base64("junk")); }),
              HasSubstr("clusters[\"c\"].certificate-authority-data: not PEM"));
  EXPECT_THAT(messageOf([&] { load(good + ", insecure-skip-tls-verify: true"); }),
              HasSubstr("insecure-skip-tls-verify: cannot be combined"));
  EXPECT_TRUE(load(", insecure-skip-tls-verify: true").tls.insecureSkipVerify);
}

TEST_F(ConfigLoadTest, ATokenFileMustBeReadable) {
  const std::string token = folder.write("token", "t\n");
  EXPECT_EQ(Config::fromKubeconfig(withUser("tokenFile: " + token)).bearerTokenFile, token);
  EXPECT_THAT(messageOf([&] { Config::fromKubeconfig(withUser("tokenFile: /none/t")); }),
              HasSubstr("/none/t"));
  folder.write("token", " \n");
  EXPECT_THAT(messageOf([&] { Config::fromKubeconfig(withUser("tokenFile: " + token)); }),
              HasSubstr("users[\"u\"].tokenFile"));
}

TEST_F(ConfigLoadTest, AClusterTellsAPluginAboutItself) {
  const Config config = Config::fromKubeconfig(
      withUser("exec: {command: x, apiVersion: client.authentication.k8s.io/v1beta1}",
               ", extensions: [{name: other, extension: 1},"
               " {name: client.authentication.k8s.io/exec, extension: {audience: me}}]"));
  EXPECT_EQ(config.exec->clusterConfig.raw, R"({"audience":"me"})");
}

// --- Sources of a configuration.

TEST_F(ConfigLoadTest, LooksInOrderAtPathVariableHomeAndPod) {
  const auto server = [&](std::string_view name) {
    return folder.write(name, "clusters: [{name: c, cluster: {server: 'https://" +
                                  std::string(name.substr(name.rfind('/') + 1)) +
                                  "'}}]\ncontexts: [{name: x, context: {cluster: c}}]\n"
                                  "current-context: x\n");
  };
  const std::string byPath = server("by-path");
  const std::string byVariable = server("by-variable");
  const std::string byHome = server("home/.kube/config");
  const LoadOptions pod{.serviceAccountFolder = serviceAccount()};
  const ScopedVariable podHost("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  const ScopedVariable podPort("KUBERNETES_SERVICE_PORT", "443");

  LoadOptions explicitly = pod;
  explicitly.path = byPath;
  {
    const ScopedVariable variable("KUBECONFIG", folder.path("none") + ":" + byVariable);
    EXPECT_EQ(Config::load(explicitly).host, "https://by-path");
    EXPECT_EQ(Config::load(pod).host, "https://by-variable");
  }
  {
    // If all listed files are missing, the pod is next, not the home folder.
    const ScopedVariable variable("KUBECONFIG", folder.path("none"));
    EXPECT_EQ(Config::load(pod).host, "https://10.0.0.1:443");
  }
  EXPECT_EQ(Config::load(pod).host, "https://config");
  // The pod supplies the namespace if the kubeconfig has none.
  EXPECT_EQ(Config::load(pod).namespace_, "pod-space");
  std::filesystem::remove(byHome);
  EXPECT_EQ(Config::load(pod).host, "https://10.0.0.1:443");
  explicitly.path = folder.path("none");
  EXPECT_THROW(Config::load(explicitly), ConfigError);
}

TEST_F(ConfigLoadTest, SaysWhereItLookedWhenThereIsNothing) {
  const LoadOptions noPod{.serviceAccountFolder = folder.path("none")};
  EXPECT_THAT(messageOf([&] { Config::load(noPod); }),
              AllOf(HasSubstr(folder.path("home/.kube/config")), HasSubstr("pod")));
  // The name of a server is enough.
  EXPECT_EQ(Config::load({.server = "http://localhost:8080"}).host, "http://localhost:8080");
}

TEST_F(ConfigLoadTest, InAPodTakesItsServiceAccount) {
  const LoadOptions options{.serviceAccountFolder = serviceAccount()};
  EXPECT_THAT(messageOf([&] { Config::inCluster(options); }), HasSubstr("KUBERNETES_SERVICE_HOST"));
  const ScopedVariable podHost("KUBERNETES_SERVICE_HOST", "fd00::1");
  const ScopedVariable podPort("KUBERNETES_SERVICE_PORT", "6443");
  Config config = Config::inCluster(options);
  EXPECT_TRUE(config.disableCompression);
  EXPECT_EQ(config.host, "https://[fd00::1]:6443");
  EXPECT_EQ(config.bearerTokenFile, folder.path("sa/token"));
  EXPECT_EQ(config.tls.caFile, folder.path("sa/ca.crt"));
  EXPECT_EQ(config.namespace_, "pod-space");
  {
    const ScopedVariable name("POD_NAMESPACE", "by-variable");
    EXPECT_EQ(Config::inCluster(options).namespace_, "by-variable");
  }
  LoadOptions changed = options;
  changed.namespace_ = "mine";
  changed.server = "https://other";
  EXPECT_EQ(Config::inCluster(changed).namespace_, "mine");
  EXPECT_EQ(Config::inCluster(changed).host, "https://other");

  std::filesystem::remove(folder.path("sa/ca.crt"));
  std::filesystem::remove(folder.path("sa/namespace"));
  config = Config::inCluster(options);
  EXPECT_EQ(config.tls.caFile, "");
  EXPECT_EQ(config.namespace_, "default");
  std::filesystem::remove(folder.path("sa/token"));
  EXPECT_THAT(messageOf([&] { Config::inCluster(options); }), HasSubstr("sa/token"));
}

TEST_F(ConfigLoadTest, NamesTheFilesThatItLookedFor) {
  EXPECT_THAT(messageOf([] { Config::load(); }),
              StartsWith("no configuration: there is no " + folder.path("home/.kube/config") +
                         ", and this does not run in a pod; "));
  const std::string empty = folder.write("empty", "{}");
  EXPECT_THAT(messageOf([&] { Config::load({.path = empty}); }),
              StartsWith("no configuration: " + empty + " names no current-context, and "));
  {
    const ScopedVariable files("KUBECONFIG", "/nonexistent/kc");
    EXPECT_THAT(
        messageOf([] { Config::load(); }),
        StartsWith("no configuration: there is no /nonexistent/kc, which $KUBECONFIG names, "
                   "and this does not run in a pod; "));
  }
  {
    const ScopedVariable files("KUBECONFIG", empty + ":/nonexistent/kc:" + folder.write("2", ""));
    EXPECT_THAT(
        messageOf([] { Config::load(); }),
        StartsWith("no configuration: " + empty + ", " + folder.path("2") +
                   " name no current-context, there is no /nonexistent/kc, which $KUBECONFIG "
                   "names, and this does not run in a pod; "));
  }
  const ScopedVariable files("KUBECONFIG", ":");
  EXPECT_THAT(messageOf([] { Config::load(); }),
              StartsWith("no configuration: $KUBECONFIG names no file, and "));
  EXPECT_THAT(messageOf([] { Config::load({.path = "/nonexistent/kc"}); }),
              AllOf(StartsWith("/nonexistent/kc: "), HasSubstr("No such file or directory")));
}

TEST_F(ConfigLoadTest, FlagsNameAServerAFileOrBoth) {
  const std::string file = folder.write("config", withUser("token: t"));
  EXPECT_EQ(Config::fromFlags("", file).host, "https://c");
  EXPECT_EQ(Config::fromFlags("https://other", file).host, "https://other");
  EXPECT_EQ(Config::fromFlags("https://other", file).bearerToken, "t");
  EXPECT_EQ(Config::fromFlags("http://localhost:8080", "").host, "http://localhost:8080");
  EXPECT_THROW(Config::fromFlags("", folder.path("none")), ConfigError);
  EXPECT_THAT(messageOf([] { Config::fromFlags("", ""); }), HasSubstr("pod"));
}

TEST_F(ConfigLoadTest, NewTokensOfAProviderAreKeptInItsFile) {
  const std::string file = folder.write(
      "config", withUser("auth-provider: {name: oidc, config: {id-token: old, a: b}}"));
  const Config config = Config::load({.path = file});
  ASSERT_TRUE(config.authProviderPersister);
  config.authProviderPersister({{"id-token", "new"}});
  EXPECT_EQ(Kubeconfig::read(file).users.at("u").authProvider->config,
            (Map<String>{{"id-token", "new"}}));
}

// --- Display.

TEST(ConfigTest, ShowsNoSecrets) {
  Config config{
      .host = "https://jane:hunter2@example.com",
      .bearerToken = "hunter2",
      .bearerTokenFile = "/token",
      .username = "jane",
      .password = "hunter2",
      .exec = ExecConfig{.command = "aws",
                         .args = {"--secret=hunter2"},
                         .env = {{.name = "KEY", .value = "hunter2"}}},
      .authProvider = AuthProviderConfig{.name = "oidc", .config = {{"id-token", "hunter2"}}},
      .impersonate = {.user = "root", .extra = {{"k", {"hunter2"}}}},
      .timeout = std::chrono::milliseconds{1500},
      .proxy = "http://me:hun/ter2@proxy:3128"};
  config.tls.keyData = "hunter2";
  config.tls.certFile = "/cert";
  const std::string text = fmt::format("{}", config);
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(text, Not(HasSubstr("ter2")));
  for (const char* shown :
       {"https://REDACTED@example.com", "bearerToken: REDACTED", "\"/token\"", "\"jane\"",
        "\"aws\"", "env KEY: REDACTED", "id-token: REDACTED", "\"root\"", "timeout: 1.5s",
        "REDACTED@proxy:3128", "\"/cert\"", "keyData: REDACTED"}) {
    EXPECT_THAT(text, HasSubstr(shown));
  }
}

TEST(ConfigTest, AnonymousHasNoCredentials) {
  Config config{.host = "https://h",
                .bearerToken = "t",
                .username = "u",
                .exec = ExecConfig{.command = "x"},
                .impersonate = {.user = "root"},
                .timeout = std::chrono::seconds{5}};
  config.tls.caFile = "/ca";
  config.tls.keyFile = "/key";
  Config expected{.host = "https://h", .timeout = std::chrono::seconds{5}};
  expected.tls.caFile = "/ca";
  EXPECT_EQ(config.anonymous().toString(), expected.toString());
}

TEST(ConfigTest, TheUserAgentNamesProgramAndLibrary) {
  EXPECT_EQ(defaultUserAgent().find("rest_test/" + std::string(version()) + " (linux/"), 0U);
  EXPECT_THAT(defaultUserAgent(), HasSubstr(") kubexx/" + std::string(gitCommit())));
}

TEST(ConfigRateLimiterTest, IsTheConfigsOwnOrMadeForItsRate) {
  FakeClock clock;
  EXPECT_EQ(Config{}.makeRateLimiter(clock)->qps(), 50);
  EXPECT_EQ((Config{.qps = 7}).makeRateLimiter(clock)->qps(), 7);
  EXPECT_EQ((Config{.qps = 0, .burst = 0}).makeRateLimiter(clock)->qps(), 50);
  EXPECT_EQ((Config{.qps = -1}).makeRateLimiter(clock), nullptr);
  auto own = std::make_shared<TokenBucket>(TokenBucketOptions{.qps = 3, .burst = 1}, clock);
  EXPECT_EQ((Config{.qps = -1, .rateLimiter = own}).makeRateLimiter(clock), own);
}

}  // namespace
}  // namespace kube
