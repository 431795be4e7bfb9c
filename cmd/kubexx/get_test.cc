#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <utility>

#include "cmd/kubexx/invocation.h"
#include "cmd/kubexx/run_testing.h"

namespace kube::cmd {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class GetTest : public CliTest {
 protected:
  GetTest() { EXPECT_THAT(out("apply -f -", kShop), HasSubstr("pod/web-1 created")); }
};

TEST_F(GetTest, ShowsTheServersColumns) {
  EXPECT_THAT(out("get pods"), ContainsRegex("^NAME +READY +STATUS +RESTARTS +AGE\ndb-0 +0/1 "));
  EXPECT_THAT(out("get po -o wide"), HasSubstr("NODE"));
  EXPECT_THAT(out("get pods --no-headers"), StartsWith("db-0"));
  EXPECT_THAT(out("get pods -A"), ContainsRegex("NAMESPACE +NAME .*\ndefault +db-0"));
  EXPECT_THAT(out("get pods -l app=web --show-labels"), HasSubstr("app=web,tier=front\n"));
  EXPECT_THAT(out("get pods -L app"), AllOf(HasSubstr("APP\n"), HasSubstr(" db\n")));
}

TEST_F(GetTest, AcceptsTheProgramsFlagsBeforeAndAfterTheCommand) {
  EXPECT_EQ(out("-n default get configmaps -o=name"), "configmap/settings\n");
  EXPECT_EQ(out("get configmaps -oname -n default"), "configmap/settings\n");
  EXPECT_EQ(run({"get", "configmaps", "-n", "other"}).err,
            "No resources found in other namespace.\n");
}

TEST_F(GetTest, SelectsByLabelsFieldsAndNames) {
  EXPECT_EQ(out("get pods -l app=db -o name"), "pod/db-0\n");
  EXPECT_EQ(out("get pods --field-selector metadata.name=web-1 -o name"), "pod/web-1\n");
  EXPECT_EQ(out("get pod web-1 db-0 -o name"), "pod/web-1\npod/db-0\n");
  EXPECT_EQ(out("get pod/web-1 svc/web -o name"), "pod/web-1\nservice/web\n");
  EXPECT_EQ(out("get deploy.v1.apps,cm -o name"), "deployment.apps/web\nconfigmap/settings\n");
  EXPECT_EQ(out("get Pod web-1 -o name"), "pod/web-1\n");
}

TEST_F(GetTest, PrintsATableForEachKind) {
  EXPECT_THAT(out("get pods,svc"),
              AllOf(ContainsRegex("pod/web-1 .*\n\nNAME +TYPE"), HasSubstr("service/web")));
}

TEST_F(GetTest, PrintsObjectsInEveryFormat) {
  EXPECT_THAT(out("get cm settings -o yaml"),
              AllOf(StartsWith("apiVersion: v1\ndata:\n  colour: blue\n"),
                    HasSubstr("kind: ConfigMap"), Not(HasSubstr("managedFields"))));
  EXPECT_THAT(out("get cm settings -o yaml --show-managed-fields"), HasSubstr("managedFields"));
  EXPECT_THAT(out("get cm -o json"),
              AllOf(StartsWith("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n"),
                    HasSubstr("\"kind\": \"List\"")));
  EXPECT_THAT(out("get pod db-0 -o json"), HasSubstr("a \\u003c b \\u0026 c"));
  EXPECT_EQ(out("get pods -o jsonpath={.items[*].metadata.name}"), "db-0 web-1");
  EXPECT_EQ(
      run({"get", "pods", "-o", "custom-columns=NAME:.metadata.name,NODE:.spec.nodeName"}).out,
      "NAME    NODE\ndb-0    node-1\nweb-1   <none>\n");
  EXPECT_EQ(out("get pods --sort-by=.spec.nodeName -o name"), "pod/web-1\npod/db-0\n");
  EXPECT_THAT(run({"get", "pods", "-o", "xml"}).err, HasSubstr("unable to match a printer"));
}

TEST_F(GetTest, ReportsMissingObjectsAndResources) {
  const Ran none = run({"get", "pod", "nobody"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "Error from server (NotFound): pods \"nobody\" not found\n");
  const Ran some = run({"get", "pod", "nobody", "web-1", "-o", "name"});
  EXPECT_EQ(some.code, 1);
  EXPECT_EQ(some.out, "pod/web-1\n");
  const Ran ignored = run({"get", "pod", "nobody", "--ignore-not-found"});
  EXPECT_EQ(ignored.code, 0);
  EXPECT_EQ(ignored.out + ignored.err, "");
  const Ran type = run({"get", "pots"});
  EXPECT_EQ(type.code, 1);
  EXPECT_EQ(type.err, "error: the server doesn't have a resource type \"pots\"\n");
  EXPECT_EQ(run({"get", "pods", "-l", "app=none"}).err,
            "No resources found in default namespace.\n");
  EXPECT_EQ(run({"get", "pods", "-A", "-l", "app=none"}).err, "No resources found\n");
  EXPECT_EQ(run({"get"}).code, 1);
  EXPECT_EQ(run({"get", "pod", "web-1", "-A"}).err,
            "error: a resource cannot be retrieved by name across all namespaces\n");
}

TEST_F(GetTest, FindsCustomResourcesByDiscovery) {
  out("apply -f -", kBookDefinition);
  out("wait crd/books.shop.example.com --for=condition=established");
  out("apply -f -", kBooks);
  EXPECT_THAT(out("get books"), ContainsRegex("^NAME +PAGES\nlong +1200\nshort +\n"));
  EXPECT_EQ(out("get bk -o name"), "book.shop.example.com/long\nbook.shop.example.com/short\n");
  EXPECT_THAT(out("get all -o name"),
              AllOf(HasSubstr("book.shop.example.com/long"), HasSubstr("pod/web-1")));
}

TEST_F(GetTest, WatchesUntilTheRequestTimeout) {
  const Ran ran = run({"get", "cm", "-w", "--output-watch-events", "--request-timeout=1s"});
  EXPECT_THAT(ran.out, ContainsRegex("EVENT +NAME +DATA +AGE\nADDED +settings +4"));
}

TEST_F(GetTest, ShowsChangesUntilItIsStopped) {
  std::stop_source source;
  bool made = false;
  const Ran ran =
      run({"get", "cm", "-w", "-o", "name"},
          {.prepare = [&](Invocation& invocation) { invocation.setStop(source.get_token()); },
           .onFlush =
               [&](const std::string& printed) {
                 if (printed.find("later") != std::string::npos) source.request_stop();
                 if (std::exchange(made, true)) return;
                 out("create -f -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: later}\n");
               }});
  EXPECT_EQ(ran.out, "configmap/settings\nconfigmap/later\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

}  // namespace
}  // namespace kube::cmd
