// No threads.

// Compares kubexx with the real kubectl on one server: both must print the same, byte for byte.
// Skipped if kubectl is not installed. $KUBECTL names another program.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "cmd/kubexx/run_testing.h"
#include "kube/base/clock.h"

namespace kube::cmd {
namespace {

// Stops the server's clock, so that it gives both programs the same ages.
struct TimeStandsStill {
  FakeClock clock{realClock().wallNow()};
};

class BesideKubectlTest : private TimeStandsStill, public CliTest {
 protected:
  BesideKubectlTest() : CliTest(&clock) {}

  void SetUp() override {
    const char* named = std::getenv("KUBECTL");
    kubectl_ = named != nullptr ? named : "kubectl";
    if (std::system(("command -v " + kubectl_ + " >/dev/null 2>&1").c_str()) != 0) {
      GTEST_SKIP() << "there is no kubectl on this machine";
    }
    out("apply -f -", kShop);
    out("apply -f -", kBookDefinition);
    out("wait crd/books.shop.example.com --for=condition=established");
    out("apply -f -", kBooks);
  }

  // Returns stdout and stderr, and the exit code unless it is 0.
  std::string kubectl(const std::vector<std::string>& arguments) const {
    std::string command = "HOME=" + folder_ + " timeout 60 " + kubectl_ + " --kubeconfig " +
                          folder_ + "/config --cache-dir " + folder_ + "/cache";
    for (const std::string& argument : arguments) command += " '" + argument + "'";
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer;
    for (std::size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      output.append(buffer.data(), n);
    }
    const int status = pclose(pipe);
    // A line of kubeconfigs that kubectl 1.34 no longer writes.
    constexpr std::string_view kPreferences = "preferences: {}\n";
    if (const auto at = output.find(kPreferences); at != output.npos) {
      output.erase(at, kPreferences.size());
    }
    return status == 0 ? output : output + "exit " + std::to_string(WEXITSTATUS(status)) + "\n";
  }

  std::string kubexx(const std::vector<std::string>& arguments) const {
    const Ran ran = run(arguments);
    const std::string output = ran.out + ran.err;
    return ran.code == 0 ? output : output + "exit " + std::to_string(ran.code) + "\n";
  }

  // Tries several times: some ages are computed by the programs, and may change between the two
  // calls.
  void compare(const std::vector<std::string>& arguments) const {
    std::string theirs, ours;
    for (int tries = 0; tries < 4; ++tries) {
      ours = kubexx(arguments);
      theirs = kubectl(arguments);
      if (ours == theirs) return;
    }
    std::string line;
    for (const std::string& argument : arguments) line += " " + argument;
    EXPECT_EQ(ours, theirs) << "kubexx" << line;
  }

  std::string kubectl_;
};

class EveryFormTest : public BesideKubectlTest,
                      public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryFormTest, IsTheSame) {
  const std::string kind = GetParam();
  compare({"get", kind});
  compare({"get", kind, "-o", "wide"});
  compare({"get", kind, "-o", "yaml"});
  compare({"get", kind, "-o", "json"});
  compare({"get", kind, "-o", "name"});
  compare(
      {"get", kind, "-o", "jsonpath={range .items[*]}{.metadata.name}:{.metadata.labels}\n{end}"});
  compare({"get", kind, "-o",
           "custom-columns=NAME:.metadata.name,LABELS:.metadata.labels,KIND:.kind,NO:.not.there"});
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryFormTest,
                         ::testing::Values("pods", "services", "deployments", "statefulsets",
                                           "configmaps", "secrets", "cronjobs", "jobs", "ingresses",
                                           "nodes", "namespaces", "books"));

TEST_F(BesideKubectlTest, OneObject) {
  compare({"get", "pod", "web-1"});
  compare({"get", "pod/web-1", "-o", "yaml"});
  compare({"get", "pod", "web-1", "-o", "json"});
  compare({"get", "pod", "web-1", "-o", "json", "--show-managed-fields"});
  compare({"get", "pod", "web-1", "db-0"});
  compare({"get", "pod", "web-1", "db-0", "-o", "yaml"});
  compare({"get", "cm", "settings", "-o", "jsonpath={.data}"});
  compare({"get", "deploy/web", "-o", "jsonpath-as-json={.spec.template.spec.containers[*].name}"});
}

TEST_F(BesideKubectlTest, SeveralKindsAndNamespaces) {
  compare({"get", "pods,svc"});
  compare({"get", "pods,rs,svc,deploy"});
  compare({"get", "pods", "-A"});
  compare({"get", "nodes,pods", "-A"});
  compare({"get", "pod/web-1", "svc/web", "-o", "name"});
  compare({"get", "pods", "--show-kind"});
}

TEST_F(BesideKubectlTest, FlagsForColumns) {
  compare({"get", "pods", "--show-labels"});
  compare({"get", "pods", "-L", "app,tier"});
  compare({"get", "pods", "--no-headers"});
  compare({"get", "pods", "--sort-by=.metadata.labels.app"});
  compare({"get", "pods", "--sort-by=.spec.nodeName", "-o", "name"});
  compare({"get", "pods", "-l", "app in (web)"});
  compare({"get", "pods", "--field-selector", "metadata.name=db-0"});
  compare({"get", "pods", "--chunk-size=1"});
  compare({"get", "--raw", "/api/v1/namespaces/default/configmaps/settings"});
}

TEST_F(BesideKubectlTest, MissingObjectsAndResources) {
  compare({"get", "pods", "-n", "nowhere"});
  compare({"get", "pods", "-l", "app=none", "-A"});
  compare({"get", "nodes", "-l", "app=none"});
  compare({"get", "pods", "-l", "app=none", "-o", "yaml"});
  compare({"get", "pods", "-l", "app=none", "-o", "name"});
  compare({"get", "pod", "nobody"});
  compare({"get", "pod", "nobody", "web-1", "-o", "name"});
  compare({"get", "pod", "nobody", "-o", "yaml"});
  compare({"get", "pod", "nobody", "--ignore-not-found"});
  compare({"get", "pots"});
  compare({"get", "pods", "--field-selector", "spec.nonsense=1"});
}

TEST_F(BesideKubectlTest, OtherCommands) {
  compare({"api-resources"});
  compare({"api-resources", "-o", "wide"});
  compare({"api-resources", "-o", "name", "--namespaced=false"});
  compare({"api-versions"});
  compare({"explain", "pods"});
  compare({"explain", "pods.spec.containers"});
  compare({"explain", "deploy", "--recursive"});
  compare({"explain", "books.spec"});
  compare({"explain", "books.spec.title"});
  compare({"config", "view"});
  compare({"config", "get-contexts"});
  compare({"config", "current-context"});
  compare({"patch", "cm", "settings", "-p", R"({"data":{"a":"b"}})"});
  compare({"wait", "cm/settings", "--for=jsonpath={.data.colour}=blue"});
}

}  // namespace
}  // namespace kube::cmd
