// No threads.

// Commands about the cluster and its configuration: api-resources, explain, config, whoami, cache,
// completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/run_testing.h"
#include "kube/base/internal/logged_testing.h"

namespace kube::cmd {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ClusterTest : public CliTest {};

TEST_F(ClusterTest, ListsResourcesAndVersions) {
  EXPECT_THAT(out("api-resources"),
              AllOf(ContainsRegex("^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND\nbindings "),
                    ContainsRegex("deployments +deploy +apps/v1 +true +Deployment\n")));
  EXPECT_THAT(out("api-resources --namespaced=false -o name"),
              AllOf(HasSubstr("nodes\n"), Not(HasSubstr("pods\n"))));
  EXPECT_THAT(out("api-resources --api-group=apps -o name"),
              StartsWith("controllerrevisions.apps"));
  EXPECT_THAT(out("api-resources -o wide --verbs=watch"), Not(HasSubstr("\nbindings ")));
  EXPECT_THAT(out("api-versions"), AllOf(HasSubstr("\napps/v1\n"), HasSubstr("\nv1\n")));
}

TEST_F(ClusterTest, ExplainsFields) {
  EXPECT_THAT(out("explain pods.spec.containers"),
              AllOf(StartsWith("KIND:       Pod\nVERSION:    v1\n\nFIELD: containers "
                               "<[]Container>\n\n\nDESCRIPTION:\n"),
                    HasSubstr("  name\t<string> -required-\n")));
  EXPECT_THAT(out("explain cm --recursive"),
              HasSubstr("  metadata\t<ObjectMeta>\n    annotations\t"));
  out("apply -f -", kBookDefinition);
  out("wait crd/books.shop.example.com --for=condition=established");
  EXPECT_THAT(out("explain books.spec"),
              AllOf(StartsWith("GROUP:      shop.example.com\nKIND:       Book\n"),
                    HasSubstr("  title\t<string>\n    What is printed on the cover.\n\n")));
  const Ran none = run({"explain", "pods.nonsense"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "error: field \"nonsense\" does not exist\n");
}

TEST_F(ClusterTest, ShowsTheUser) {
  EXPECT_THAT(out("whoami"), AllOf(ContainsRegex("ATTRIBUTE +VALUE\nUsername +kubexx-admin\n"),
                                   HasSubstr("[system:masters system:authenticated]")));
  EXPECT_EQ(out("whoami --as ann --as-group g -o jsonpath={.status.userInfo.username}"), "ann");
  const Ran refused = run({"whoami", "--token", "wrong", "--client-certificate", ""});
  EXPECT_EQ(refused.code, 0);  // the certificate still names the user
}

TEST_F(ClusterTest, ShowsRequestsAsMuchAsAsked) {
  const testing::Logged logged;
  EXPECT_EQ(run({"get", "pods", "-v", "5"}).err, "No resources found in default namespace.\n");
  run({"get", "pods", "-v", "6"});
  EXPECT_THAT(logged.text(), AllOf(HasSubstr("Response verb=GET url=\"https://"),
                                   HasSubstr("/api/v1/namespaces/default/pods"),
                                   HasSubstr("status=200 milliseconds=")));
  EXPECT_THAT(run({"get", "pods", "-v", "8", "--token", "s3cret"}).err,
              AllOf(HasSubstr("Request GET https://"), HasSubstr("Authorization: Bearer <masked>"),
                    HasSubstr("Response 200 https://"), HasSubstr("Response Body {"),
                    Not(HasSubstr("s3cret"))));
  EXPECT_THAT(run({"get", "pods", "-v", "9"}).err,
              AllOf(HasSubstr("curl -v -XGET -H '"), HasSubstr(" -H 'User-Agent: ")));
}

TEST_F(ClusterTest, ChangesTheKubeconfig) {
  EXPECT_EQ(out("config current-context"), "kubexx\n");
  EXPECT_THAT(out("config get-contexts"),
              ContainsRegex("CURRENT +NAME +CLUSTER +AUTHINFO +NAMESPACE\n\\* +kubexx +kubexx"));
  EXPECT_THAT(out("config view"), AllOf(HasSubstr("DATA+OMITTED"), HasSubstr("kind: Config")));
  EXPECT_EQ(out("config set-context second --cluster kubexx --user kubexx -n book"),
            "Context \"second\" created.\n");
  EXPECT_EQ(out("config use-context second"), "Switched to context \"second\".\n");
  EXPECT_EQ(run({"get", "pods"}).err, "No resources found in book namespace.\n");
  EXPECT_EQ(out("config get-contexts -o name"), "kubexx\nsecond\n");
  EXPECT_EQ(run({"config", "use-context", "third"}).err,
            "error: no context exists with the name: \"third\"\n");
  EXPECT_THAT(out("config view --minify -o jsonpath={.contexts[*].name}"), "second");
}

TEST_F(ClusterTest, CacheShowsStatisticsUntilItsTimeIsOver) {
  out("apply -f -", kShop);
  EXPECT_THAT(out("cache pods --for 10ms"),
              AllOf(StartsWith("pods: filled with 2 objects in "),
                    ContainsRegex("\npods: 2 objects, 0.0 events/s")));
  EXPECT_THAT(run({"cache"}).err, HasSubstr("one resource"));
}

TEST_F(ClusterTest, CompletesWords) {
  out("apply -f -", kShop);
  EXPECT_EQ(out("__complete -- ge"), "get\n");
  EXPECT_EQ(run({"__complete", "--", "get", "deploym"}).out, "deployments\n");
  EXPECT_EQ(run({"__complete", "--", "get", "pods", "w"}).out, "web-1\n");
  EXPECT_EQ(run({"__complete", "--", "get", "pod/d"}).out, "pod/db-0\n");
  EXPECT_EQ(run({"__complete", "--", "get", "pods", "-n", "kube-n"}).out, "kube-node-lease\n");
  EXPECT_EQ(run({"__complete", "--", "get", "--field-s"}).out, "--field-selector\n");
  EXPECT_THAT(out("completion bash"), HasSubstr("complete -F _kubexx kubexx"));
  EXPECT_THAT(out("completion zsh"), HasSubstr("compdef"));
  EXPECT_THAT(out("completion fish"), HasSubstr("complete -c kubexx"));
  EXPECT_EQ(run({"completion", "tcsh"}).code, 1);
}

TEST_F(ClusterTest, ColoursAreForTerminals) {
  out("apply -f -", kShop);
  EXPECT_THAT(out("get pods"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(out("get pods --color=always"), HasSubstr("\x1b[1mNAME\x1b[0m"));
}

}  // namespace
}  // namespace kube::cmd
