// No threads.

#include "kube/rest/kubeconfig.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "kube/rest/environment_testing.h"

namespace kube {
namespace {

using test::messageOf;
using test::TemporaryFolder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kFull[] = R"(apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    disable-compression: true
    extensions:
    - extension:
        audience: me
      name: client.authentication.k8s.io/exec
    proxy-url: http://proxy:3128
    server: https://one:6443
    tls-server-name: example.com
  name: one
- cluster:
    insecure-skip-tls-verify: true
    server: https://two
  name: two
contexts:
- context:
    cluster: one
    namespace: book
    user: jane
  name: dev
current-context: dev
extensions:
- extension:
    a: [1, 2]
  name: x
kind: Config
preferences:
  colors: true
users:
- name: bob
  user:
    auth-provider:
      config:
        client-id: kube
        id-token: abc
      name: oidc
- name: carl
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      args:
      - get-token
      command: aws
      env:
      - name: A
        value: b
      installHint: install it
      interactiveMode: IfAvailable
      provideClusterInfo: true
- name: jane
  user:
    as: root
    as-groups:
    - g1
    as-uid: "7"
    as-user-extra:
      reason:
      - why
      - not
    client-certificate: jane.crt
    client-key-data: S0VZ
    tokenFile: token
- name: kim
  user:
    password: "5678"
    username: kim
)";

/// Writes the flow sequence in blocks, as kubectl does.
std::string inKubectlsHand(std::string text) {
  const std::string flow = "    a: [1, 2]\n";
  return text.replace(text.find(flow), flow.size(), "    a:\n    - 1\n    - 2\n");
}

TEST(KubeconfigTest, IsReadAndWrittenAsKubectlDoes) {
  const Kubeconfig config = Kubeconfig::parse(kFull);
  const Kubeconfig::Cluster& one = config.clusters.at("one");
  EXPECT_EQ(one.server, "https://one:6443");
  EXPECT_EQ(one.certificateAuthorityData, "CA");
  EXPECT_EQ(one.extensions[0].extension.raw, R"({"audience":"me"})");
  EXPECT_EQ(config.contexts.at("dev").namespace_, "book");
  EXPECT_EQ(config.users.at("carl").exec->args[0], "get-token");
  EXPECT_EQ(config.users.at("jane").asUserExtra["reason"][1], "not");
  EXPECT_EQ(config.users.at("jane").clientKeyData, "KEY");
  EXPECT_EQ(config.users.at("bob").authProvider->config["client-id"], "kube");
  EXPECT_EQ(config.currentContext, "dev");
  EXPECT_TRUE(config.preferences.colors);

  EXPECT_EQ(config.toYaml(), inKubectlsHand(kFull));
  EXPECT_EQ(Kubeconfig::parse(config.toYaml()), config);
}

TEST(KubeconfigTest, EmptyOnesAreWrittenWithNulls) {
  EXPECT_EQ(Kubeconfig{}.toYaml(),
            "apiVersion: v1\nclusters: null\ncontexts: null\ncurrent-context: \"\"\nkind: Config\n"
            "users: null\n");
  for (const char* text :
       {"", "\n", "# nothing\n", "---\n", "{}", "apiVersion: v1\nkind: Config"}) {
    EXPECT_TRUE(Kubeconfig::parse(text).empty()) << text;
  }
  EXPECT_TRUE(Kubeconfig::parse(Kubeconfig{}.toYaml()).empty());
}

TEST(KubeconfigTest, JsonIsYamlToo) {
  EXPECT_EQ(Kubeconfig::parse(R"({"kind":"Config","apiVersion":"v1","current-context":"a"})")
                .currentContext,
            "a");
}

TEST(KubeconfigTest, AnOldPluginIsInteractiveIfItCan) {
  const auto modeFor = [](std::string_view version) {
    return Kubeconfig::parse("users: [{name: a, user: {exec: {command: x, apiVersion: " +
                             std::string(version) + "}}}]")
        .users.at("a")
        .exec->interactiveMode;
  };
  EXPECT_EQ(modeFor("client.authentication.k8s.io/v1beta1"), "IfAvailable");
  EXPECT_EQ(modeFor("client.authentication.k8s.io/v1"), "");
}

TEST(KubeconfigTest, MistakesAreErrorsWithFileLineAndField) {
  const auto parse = [](std::string_view text) {
    return messageOf([&] { Kubeconfig::parse(text, "/x/config"); });
  };
  EXPECT_THAT(parse("clusters:\n- name: [a\n"), HasSubstr("/x/config: yaml: line "));
  EXPECT_THAT(parse("clusters:\n- name: a\n  cluster: {certificate-authority-data: '!'}"),
              testing::AllOf(HasSubstr("/x/config: "), HasSubstr("line 3"),
                             HasSubstr("clusters[0].cluster.certificate-authority-data"),
                             HasSubstr("base64")));
  EXPECT_THAT(parse("users:\n- name: a\n  user: {token: [x]}"),
              testing::AllOf(HasSubstr("users[0].user.token"), HasSubstr("expected a string")));
  EXPECT_THAT(parse("kind: Pod\napiVersion: v1"), HasSubstr("expected kind \"Config\""));
  EXPECT_THAT(parse("kind: Config\napiVersion: v2"), HasSubstr("expected apiVersion \"v1\""));
  EXPECT_THAT(parse("a: b\n---\nc: d\n"), HasSubstr("more than one document"));
  EXPECT_THAT(parse("- a\n"), HasSubstr("expected an object"));
  EXPECT_THAT(parse("users: [{name: a}, {name: b}, {name: a}]"),
              HasSubstr("users: the name \"a\" is used twice"));
}

TEST(KubeconfigTest, SyntaxErrorsDoNotQuoteTheText) {
  for (const char* text : {"users:\n- name: a\n  user: {password: *hunter2}",
                           "users:\n- name: a\n  user: {password: !!int hunter2}",
                           "users:\n- name: a\n  user: {password: {hunter2: hunter2}}",
                           "users:\n- name: a\n  user: {client-key-data: hunter2}"}) {
    EXPECT_THAT(messageOf([&] { Kubeconfig::parse(text); }), Not(HasSubstr("hunter2"))) << text;
  }
}

TEST(KubeconfigTest, AMissingFileIsAnError) {
  const TemporaryFolder folder;
  EXPECT_THAT(messageOf([&] { Kubeconfig::read(folder.path("none")); }),
              testing::AllOf(HasSubstr(folder.path("none")), HasSubstr("No such file")));
  EXPECT_THAT(messageOf([&] { Kubeconfig::read(folder.path()); }), HasSubstr(folder.path()));
}

TEST(KubeconfigTest, WritesItsOwnersFileAtOnce) {
  const TemporaryFolder folder;
  const std::string file = folder.path("deep/down/config");
  const Kubeconfig config = Kubeconfig::parse(kFull);
  config.write(file);
  EXPECT_EQ(test::readAll(file), inKubectlsHand(kFull));
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(Kubeconfig::read(file).users.at("kim").origin, file);

  // A file that is replaced keeps its mode, and a link stays a link.
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  std::filesystem::create_symlink(file, folder.path("link"));
  Kubeconfig{}.write(folder.path("link"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_TRUE(Kubeconfig::read(file).empty());
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
  const auto left = std::filesystem::directory_iterator(folder.path("deep/down"));
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);
}

TEST(KubeconfigTest, MergingKeepsExistingEntries) {
  Kubeconfig config = Kubeconfig::parse(
      "clusters: [{name: a, cluster: {server: first}}]\n"
      "extensions: [{name: x, extension: 1}]\n");
  config.merge(
      Kubeconfig::parse("clusters: [{name: a, cluster: {server: second, tls-server-name: other}},\n"
                        "           {name: b, cluster: {server: b}}]\n"
                        "current-context: c2\npreferences: {colors: true}\n"
                        "extensions: [{name: x, extension: 2}, {name: z, extension: 3}]\n"));
  config.merge(Kubeconfig::parse("current-context: c3\n"));
  EXPECT_EQ(config.clusters.at("a").server, "first");
  EXPECT_EQ(config.clusters.at("a").tlsServerName, "");
  EXPECT_EQ(config.clusters.at("b").server, "b");
  EXPECT_EQ(config.currentContext, "c2");
  EXPECT_TRUE(config.preferences.colors);
  ASSERT_EQ(config.extensions.size(), 2U);
  EXPECT_EQ(std::as_const(config).extensions[0].extension.raw, "1");
}

TEST(KubeconfigTest, PathsAreRelativeToTheirFile) {
  Kubeconfig config = Kubeconfig::parse(
      "clusters: [{name: a, cluster: {certificate-authority: ../ca.crt}}]\n"
      "users:\n- name: a\n  user: {client-certificate: c, client-key: /k, tokenFile: ./t,"
      " exec: {command: bin/x}}\n- name: b\n  user: {exec: {command: x}}\n",
      "/etc/kube/config");
  config.resolvePaths();
  EXPECT_EQ(config.clusters.at("a").certificateAuthority, "/etc/ca.crt");
  EXPECT_EQ(config.users.at("a").clientCertificate, "/etc/kube/c");
  EXPECT_EQ(config.users.at("a").clientKey, "/k");
  EXPECT_EQ(config.users.at("a").tokenFile, "/etc/kube/t");
  EXPECT_EQ(config.users.at("a").exec->command, "/etc/kube/bin/x");
  EXPECT_EQ(config.users.at("b").exec->command, "x");
}

// --- Validation.

constexpr char kGood[] = R"(
clusters: [{name: c, cluster: {server: 'https://c'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
)";

std::vector<std::string> problemsWith(const std::function<void(Kubeconfig&)>& change) {
  Kubeconfig config = Kubeconfig::parse(kGood, "/k");
  change(config);
  // The problems of the current context are among all problems.
  for (const std::string& problem : config.problemsOf()) {
    EXPECT_THAT(config.problems(), Contains(problem));
  }
  return config.problems();
}

TEST(KubeconfigProblemsTest, AGoodOneHasNone) {
  EXPECT_THAT(problemsWith([](Kubeconfig&) {}), IsEmpty());
  EXPECT_NO_THROW(Kubeconfig::parse(kGood).validate());
  EXPECT_NO_THROW(Kubeconfig::parse(kGood).confirmUsable("x"));
}

TEST(KubeconfigProblemsTest, OfContexts) {
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.contexts.write("x").user = "nobody"; }),
              ElementsAre("/k: contexts[\"x\"].user: there is no user \"nobody\""));
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.contexts.write("x").cluster = "none"; }),
              ElementsAre("/k: contexts[\"x\"].cluster: there is no cluster \"none\""));
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.contexts.write("x").cluster = ""; }),
              ElementsAre("/k: contexts[\"x\"].cluster: missing"));
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.contexts.write("x").namespace_ = "Not_a.label"; }),
              ElementsAre(HasSubstr("contexts[\"x\"].namespace")));
  EXPECT_THAT(Kubeconfig::parse("current-context: none").problems(),
              ElementsAre("current-context: there is no context \"none\""));
  EXPECT_THAT(Kubeconfig::parse("contexts: [{name: a}]").problemsOf(),
              ElementsAre(HasSubstr("no context is chosen")));
  EXPECT_THAT(Kubeconfig::parse(kGood).problemsOf("none"),
              ElementsAre("there is no context \"none\""));
  EXPECT_THAT(Kubeconfig{}.problems(), ElementsAre("the kubeconfig is empty"));
}

TEST(KubeconfigProblemsTest, OfOtherContextsDoNotMatterToOne) {
  Kubeconfig config = Kubeconfig::parse(kGood);
  config.contexts["y"] = {.cluster = "none", .user = "nobody"};
  EXPECT_NO_THROW(config.confirmUsable());
  EXPECT_THAT(messageOf([&] { config.validate(); }),
              testing::AllOf(HasSubstr("\"none\""), HasSubstr("\"nobody\"")));
}

TEST(KubeconfigProblemsTest, OfClusters) {
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.clusters.write("c").server = ""; }),
              ElementsAre("/k: clusters[\"c\"].server: missing"));
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.clusters.write("c").proxyUrl = "ftp://me:pw@x"; }),
              ElementsAre(testing::AllOf(HasSubstr("proxy-url"), Not(HasSubstr("pw")))));
  const TemporaryFolder folder;
  const std::string ca = folder.write("ca", "x");
  EXPECT_THAT(problemsWith([&](Kubeconfig& k) { k.clusters.write("c").certificateAuthority = ca; }),
              IsEmpty());
  EXPECT_THAT(problemsWith([&](Kubeconfig& k) {
                k.clusters.write("c").certificateAuthority = ca;
                k.clusters.write("c").certificateAuthorityData = "x";
              }),
              ElementsAre(HasSubstr("certificate-authority: given both")));
  EXPECT_THAT(
      problemsWith([&](Kubeconfig& k) { k.clusters.write("c").certificateAuthority = "none"; }),
      ElementsAre(HasSubstr("cannot read /none: No such file")));
}

TEST(KubeconfigProblemsTest, OfUsers) {
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.users.write("u").password = "p"; }),
              ElementsAre(HasSubstr("users[\"u\"].token: given besides username and password")));
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.users.write("u").clientCertificateData = "x"; }),
              ElementsAre(HasSubstr("users[\"u\"].client-key: missing")));
  EXPECT_THAT(
      problemsWith([](Kubeconfig& k) {
        k.users.write("u").clientCertificate = "/none/c";
        k.users.write("u").clientCertificateData = "x";
        k.users.write("u").clientKey = "/none/k";
        k.users.write("u").clientKeyData = "x";
      }),
      ElementsAre(HasSubstr("client-certificate: given both"), HasSubstr("client-key: given both"),
                  HasSubstr("cannot read /none/c"), HasSubstr("cannot read /none/k")));
  EXPECT_THAT(problemsWith([](Kubeconfig& k) { k.users.write("u").asGroups = {"g"}; }),
              ElementsAre(HasSubstr("users[\"u\"].as: missing")));
}

TEST(KubeconfigProblemsTest, OfPlugins) {
  const auto with = [](ExecConfig exec) {
    return problemsWith([&](Kubeconfig& k) { k.users.write("u").exec = exec; });
  };
  const ExecConfig good{.command = "x", .apiVersion = "a/v1", .interactiveMode = "Never"};
  EXPECT_THAT(with(good), IsEmpty());
  EXPECT_THAT(with({.command = ""}),
              ElementsAre(HasSubstr("exec.command"), HasSubstr("exec.apiVersion"),
                          HasSubstr("exec.interactiveMode: missing")));
  ExecConfig bad = good;
  bad.env = {{.name = "", .value = "x"}};
  bad.interactiveMode = "Sometimes";
  EXPECT_THAT(with(bad), ElementsAre(HasSubstr("exec.env"), HasSubstr("\"Sometimes\"")));
  EXPECT_THAT(problemsWith([&](Kubeconfig& k) {
                k.users.write("u").exec = good;
                k.users.write("u").authProvider = AuthProviderConfig{.name = "oidc"};
              }),
              ElementsAre(HasSubstr("auth-provider: cannot be combined")));
}

// --- Smaller copies, self-contained copies, and copies for display.

TEST(KubeconfigTest, MinifyingLeavesTheCurrentContext) {
  Kubeconfig config = Kubeconfig::parse(kFull);
  config.minify();
  EXPECT_EQ(config.clusters.size(), 1U);
  EXPECT_TRUE(config.clusters.contains("one"));
  EXPECT_EQ(config.users.size(), 1U);
  EXPECT_TRUE(config.users.contains("jane"));

  config.contexts.write("dev").user = "nobody";
  const Kubeconfig before = config;
  EXPECT_THAT(messageOf([&] { config.minify(); }), HasSubstr("there is no user \"nobody\""));
  EXPECT_EQ(config, before);
  EXPECT_THROW(Kubeconfig{}.minify(), ConfigError);
  EXPECT_THROW(Kubeconfig::parse("current-context: x").minify(), ConfigError);
}

TEST(KubeconfigTest, FlatteningTakesFilesIn) {
  const TemporaryFolder folder;
  folder.write("ca.crt", "CA");
  folder.write("sub/key", "KEY");
  const std::string file = folder.write(
      "config",
      "clusters: [{name: c, cluster: {certificate-authority: ca.crt}}]\n"
      "users: [{name: u, user: {client-key: sub/key, client-certificate-data: Q0VSVA==}}]\n");
  Kubeconfig config = Kubeconfig::read(file);
  config.flatten();
  EXPECT_EQ(config.clusters.at("c").certificateAuthority, "");
  EXPECT_EQ(config.clusters.at("c").certificateAuthorityData, "CA");
  EXPECT_EQ(config.users.at("u").clientKey, "");
  EXPECT_EQ(config.users.at("u").clientKeyData, "KEY");
  EXPECT_EQ(config.users.at("u").clientCertificateData, "CERT");

  config.users.write("u").clientKey = "none";
  EXPECT_THAT(messageOf([&] { config.flatten(); }), HasSubstr("users[\"u\"].client-key"));
  config.users.write("u").clientKeyData = {};
  EXPECT_THAT(messageOf([&] { config.flatten(); }), HasSubstr(folder.path("none")));
}

TEST(KubeconfigTest, ShownCopiesHoldNoSecrets) {
  Kubeconfig config = Kubeconfig::parse(kFull);
  config.users.write("jane").token = "hunter2";
  config.users.write("carl").exec->env = {{.name = "PASSWORD", .value = "hunter2"}};
  config.users.write("bob").authProvider->config = {
      {"client-id", "kube"}, {"client-secret", "hunter2"}, {"refresh-token", "hunter2"}};
  const std::string redacted = config.redacted().toYaml();
  EXPECT_THAT(redacted, Not(HasSubstr("hunter2")));
  EXPECT_THAT(redacted, Not(HasSubstr("5678")));
  EXPECT_THAT(redacted, Not(HasSubstr("S0VZ")));
  EXPECT_THAT(redacted, HasSubstr("certificate-authority-data: Q0E="));
  EXPECT_THAT(redacted, HasSubstr("client-id: kube"));

  const std::string shortened = config.shortened().toYaml();
  EXPECT_THAT(shortened, HasSubstr("certificate-authority-data: DATA+OMITTED"));
  EXPECT_THAT(shortened, HasSubstr("client-key-data: DATA+OMITTED"));
  EXPECT_THAT(shortened, HasSubstr("token: REDACTED"));
  EXPECT_THAT(shortened, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace kube
