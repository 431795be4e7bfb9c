// No threads.

// The commands apply, create, delete, patch and wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/kubexx/run_testing.h"

namespace kube::cmd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSettings =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {colour: blue}\n";
constexpr const char* kOther =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {colour: red}\n";

class ManifestsTest : public CliTest {};

TEST_F(ManifestsTest, ApplyReportsEachObject) {
  EXPECT_EQ(out("apply -f -", kSettings), "configmap/settings created\n");
  EXPECT_EQ(out("apply -f -", kSettings), "configmap/settings unchanged\n");
  std::string changed = kSettings;
  changed.replace(changed.find("blue"), 4, "pink");
  EXPECT_EQ(out("apply --dry-run=server -f -", changed),
            "configmap/settings configured (server dry run)\n");
  EXPECT_EQ(out("get cm settings -o jsonpath={.data.colour}"), "blue");
  EXPECT_EQ(out("apply -f -", changed), "configmap/settings configured\n");
  EXPECT_EQ(out("get cm settings -o jsonpath={.data.colour}"), "pink");
}

TEST_F(ManifestsTest, ApplyReadsFilesAndFolders) {
  file("shop/a.yaml", kSettings);
  file("shop/b.yml", kOther);
  file("shop/notes.txt", "not a manifest");
  file("shop/below/c.json", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"}})");
  EXPECT_EQ(out("apply -f " + folder_ + "/shop"),
            "configmap/settings created\nconfigmap/other created\n");
  EXPECT_EQ(out("apply -R -f " + folder_ + "/shop"),
            "configmap/settings unchanged\nconfigmap/other unchanged\n" +
                std::string("configmap/deep created\n"));
  EXPECT_THAT(run({"apply", "-f", folder_ + "/none"}).err, HasSubstr("does not exist"));
  EXPECT_THAT(run({"apply"}).err, HasSubstr("must specify one of -f"));
}

TEST_F(ManifestsTest, ApplyShowsTheDifference) {
  out("apply -f -", kSettings);
  std::string changed = kSettings;
  changed.replace(changed.find("blue"), 4, "pink");
  const std::string diff = out("apply --diff --dry-run -f -", changed);
  EXPECT_THAT(
      diff, AllOf(StartsWith("--- configmap/settings (live)\n"),
                  HasSubstr("\n-  colour: blue\n+  colour: pink\n"), Not(HasSubstr("configured"))));
  EXPECT_THAT(out("apply --diff -f -", changed),
              AllOf(HasSubstr("+  colour: pink"), HasSubstr("configmap/settings configured")));
}

TEST_F(ManifestsTest, ApplySendsOtherObjectsAfterAFailure) {
  const std::string bad = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n---\n";
  const Ran ran = run({"apply", "-f", "-"}, {.input = bad + kSettings});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, StartsWith("The ConfigMap \"Bad_Name\" is invalid: metadata.name: "));
  EXPECT_EQ(ran.out, "configmap/settings created\n");
}

TEST_F(ManifestsTest, CreateRefusesExistingObjects) {
  const std::string path = file("c.yaml", kSettings);
  EXPECT_EQ(out("create -f " + path), "configmap/settings created\n");
  const Ran again = run({"create", "-f", path});
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(again.err, "Error from server (AlreadyExists): error when creating \"" + path +
                           "\": configmaps \"settings\" already exists\n");
  EXPECT_EQ(out("create --dry-run=client -o name -f -", kOther), "configmap/other\n");
  EXPECT_EQ(run({"get", "cm", "other"}).code, 1);
}

TEST_F(ManifestsTest, CreatesSimpleObjectsByName) {
  EXPECT_EQ(out("create namespace book"), "namespace/book created\n");
  EXPECT_EQ(run({"create", "ns", "book"}).err,
            "Error from server (AlreadyExists): namespaces \"book\" already exists\n");
  const std::string path = file("notes.txt", "a=b");
  EXPECT_EQ(out("create cm c -n book --from-literal=k=v --from-file " + path),
            "configmap/c created\n");
  EXPECT_EQ(out("get cm c -n book -o jsonpath={.data}"), R"({"k":"v","notes.txt":"a=b"})");
  EXPECT_EQ(out("create secret generic s --from-literal=k=v"), "secret/s created\n");
  EXPECT_EQ(out("get secret s -o jsonpath={.data.k}"), "dg==");
  EXPECT_THAT(run({"create", "pod", "p"}).err, HasSubstr("-f FILE"));
}

TEST_F(ManifestsTest, DeleteWaitsUntilTheObjectIsGone) {
  out("apply -f -", kSettings);
  EXPECT_EQ(out("delete cm settings --dry-run=server"),
            "configmap \"settings\" deleted (server dry run)\n");
  EXPECT_EQ(out("delete cm settings"), "configmap \"settings\" deleted\n");
  const Ran gone = run({"delete", "cm", "settings"});
  EXPECT_EQ(gone.code, 1);
  EXPECT_EQ(gone.err, "Error from server (NotFound): configmaps \"settings\" not found\n");
  EXPECT_EQ(out("delete cm settings --ignore-not-found"), "");

  std::string held = kSettings;
  held.replace(held.find("{name: settings}"), 16, "{name: settings, finalizers: [a.b/c]}");
  out("apply -f -", held);
  EXPECT_EQ(out("delete cm/settings --wait=false"), "configmap \"settings\" deleted\n");
  const Ran slow = run({"delete", "cm/settings", "--timeout=1s"});
  EXPECT_EQ(slow.code, 1);
  EXPECT_EQ(slow.err, "error: timed out waiting for the condition on configmaps/settings\n");
}

TEST_F(ManifestsTest, RefusesEmptyNames) {
  EXPECT_EQ(run({"create", "namespace", ""}).err,
            "error: create namespace: the name may not be empty\n");
  for (const char* command : {"get", "delete"}) {
    const Ran ran = run({command, "pod", ""});
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.err, "error: resource name may not be empty\n") << command;
  }
}

TEST_F(ManifestsTest, DeleteSelects) {
  const std::string both = std::string(kSettings) + "---\n" + kOther;
  out("apply -f -", both);
  EXPECT_THAT(run({"delete", "cm"}).err, HasSubstr("no name was specified"));
  EXPECT_EQ(out("delete cm --field-selector metadata.name=other -o name"), "configmap/other\n");
  EXPECT_EQ(out("delete cm --all"), "configmap \"settings\" deleted\n");
  out("apply -f -", both);
  EXPECT_EQ(out("delete -f -", both),
            "configmap \"other\" deleted\nconfigmap \"settings\" deleted\n");
}

TEST_F(ManifestsTest, PatchesOfEveryType) {
  out("apply -f -", kSettings);
  EXPECT_EQ(out(R"(patch cm settings -p {"data":{"size":"xl"}})"), "configmap/settings patched\n");
  EXPECT_EQ(out(R"(patch cm settings -p {"data":{"size":"xl"}})"),
            "configmap/settings patched (no change)\n");
  EXPECT_EQ(out(R"(patch cm/settings --type=json -p [{"op":"remove","path":"/data/size"}])"),
            "configmap/settings patched\n");
  EXPECT_EQ(run({"patch", "cm", "settings", "--type", "merge", "-p", "data: {colour: null}", "-o",
                 "jsonpath={.data}"})
                .out,
            "");
  EXPECT_THAT(run({"patch", "cm", "settings"}).err, HasSubstr("-p"));
  EXPECT_THAT(run({"patch", "cm", "settings", "--type", "x", "-p", "{}"}).err,
              HasSubstr("--type must be one of"));
}

TEST_F(ManifestsTest, WaitsForConditionsPathsAndDeletion) {
  out("apply -f -", kBookDefinition);
  EXPECT_EQ(out("wait crd/books.shop.example.com --for=condition=established"),
            "customresourcedefinition.apiextensions.k8s.io/books.shop.example.com condition met\n");
  out("apply -f -", kSettings);
  EXPECT_EQ(out("wait cm/settings --for=jsonpath={.data.colour}=blue"),
            "configmap/settings condition met\n");
  EXPECT_EQ(out("wait cm --all --for=jsonpath={.data.colour}"),
            "configmap/settings condition met\n");
  const Ran never = run({"wait", "cm/settings", "--for=condition=Ready", "--timeout=0"});
  EXPECT_EQ(never.code, 1);
  EXPECT_EQ(never.err, "error: timed out waiting for the condition on configmaps/settings\n");
  EXPECT_EQ(out("wait cm/none --for=delete"), "configmap/none condition met\n");
  EXPECT_THAT(run({"wait", "cm/none", "--for=condition=Ready"}).err, HasSubstr("not found"));
  EXPECT_THAT(run({"wait", "cm/settings", "--for=sunshine"}).err, HasSubstr("sunshine"));
  EXPECT_EQ(run({"wait", "cm", "-l", "a=b", "--for=condition=Ready"}).err,
            "error: no matching resources found\n");
}

}  // namespace
}  // namespace kube::cmd
