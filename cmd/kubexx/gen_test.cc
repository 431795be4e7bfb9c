// No threads.

#include "cmd/kubexx/gen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "kube/base/error.h"
#include "kube/rest/kubeconfig.h"
#include "kube/testing/api_server.h"

namespace kube::cmd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GenTest : public ::testing::Test {
 protected:
  GenTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("kubexx-gen-" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~GenTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return (folder_ / name).string();
  }
  std::string read(const std::string& name) const {
    std::ifstream in(folder_ / "out" / name);
    std::stringstream content;
    content << in.rdbuf();
    return content.str();
  }
  std::string run(GenOptions options) {
    options.out = (folder_ / "out").string();
    std::ostringstream out, notes;
    generate(options, out, notes);
    notes_ = notes.str();
    return out.str();
  }
  std::string failure(const std::string& content) {
    try {
      run({.files = {write("bad.yaml", content)}});
    } catch (const Error& error) {
      EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path folder_;
  std::string notes_;
};

std::string definition(const std::string& spec, const std::string& group = "acme.example.com") {
  return R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.)" +
         group + R"(}
spec:
  group: )" +
         group + R"(
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: )" +
         spec + "\n";
}

const std::string kGood = "{type: object, required: [size], properties: {size: {type: integer}}}";

TEST_F(GenTest, WritesTypesClientsAndInformers) {
  EXPECT_THAT(run({.outer = "mine", .files = {write("w.yaml", definition(kGood))}}),
              HasSubstr("1 group-versions, 3 types: 7 files, 7 changed"));
  EXPECT_THAT(read("acme/v1.h"), HasSubstr("namespace mine::acmev1 {"));
  EXPECT_THAT(read("acme/v1_client.h"), HasSubstr("auto widgets("));
  EXPECT_THAT(read("acme/v1_informers.h"), HasSubstr("informerFor<Widget>"));
  EXPECT_THAT(read("crds.cc"), HasSubstr("#include \"acme/v1.cc\""));
  // Unchanged files keep their time, so nothing is rebuilt for them.
  EXPECT_THAT(run({.outer = "mine", .files = {(folder_ / "w.yaml").string()}}),
              HasSubstr("0 changed"));
}

TEST_F(GenTest, ReadsFoldersAndIgnoresOtherObjectsInManifests) {
  std::filesystem::create_directories(folder_ / "all");
  write("all/a.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n---\n" +
                          definition(kGood, "a.example.com") + "---\n" +
                          definition(kGood, "b.example.com"));
  write("all/README.md", "not a manifest");
  run({.files = {(folder_ / "all").string()}});
  EXPECT_NE(read("a/v1.h"), "");
  EXPECT_NE(read("b/v1.h"), "");
}

TEST_F(GenTest, RefusesInvalidDefinitionsWithThePath) {
  EXPECT_THAT(
      failure(definition("{properties: {size: {type: integer}}}")),
      HasSubstr("bad.yaml: widgets.acme.example.com: a server would refuse this "
                "definition:\n  spec.validation.openAPIV3Schema.properties[spec].type: Required"));
  EXPECT_THAT(failure(definition("{type: object, properties: {a: {$ref: '#/x'}}}")),
              HasSubstr("$ref"));
  EXPECT_THAT(failure(definition("{type: object, additionalProperties: {type: string}, "
                                 "properties: {a: {type: string}}}")),
              HasSubstr("mutual exclusive"));
  EXPECT_THAT(failure("apiVersion: v1\nkind: Pod\n"),
              HasSubstr("no CustomResourceDefinition found"));
  EXPECT_THAT(failure("a: [b"), HasSubstr("bad.yaml: yaml: line"));
  EXPECT_THAT(failure(definition("{type: object, properties: {a: {type: [x]}}}")),
              HasSubstr("properties.a.type: expected a string"));
}

TEST_F(GenTest, IgnoresConversionWebhooksAndProtectedGroups) {
  run({.files = {write("w.yaml", definition(kGood, "acme.k8s.io") +
                                     "  conversion: {strategy: Webhook, webhook: {clientConfig: "
                                     "{url: 'https://x'}, conversionReviewVersions: [v1]}}\n")}});
  EXPECT_NE(read("acme/v1.h"), "");
}

TEST_F(GenTest, NotesFieldsThatBecomeValues) {
  run({.files = {write("w.yaml",
                       definition("{type: object, x-kubernetes-preserve-unknown-fields: true}"))}});
  EXPECT_THAT(notes_, HasSubstr("spec: x-kubernetes-preserve-unknown-fields: a kube::Value\n"));
}

TEST_F(GenTest, GeneratesFromAServersResourcesWithoutDefinition) {
  testing::ApiServer server({.manifests = {definition(kGood)}});
  const std::string kubeconfig = (folder_ / "kubeconfig").string();
  Kubeconfig::parse(server.kubeconfig()).write(kubeconfig);
  run({.groupVersions = {"acme.example.com/v1"}, .kubeconfig = kubeconfig});
  const std::string header = read("acme/v1.h");
  EXPECT_THAT(header, HasSubstr("  kube::metav1::ObjectMeta metadata = {};\n"));
  EXPECT_THAT(header, HasSubstr("  std::int64_t size = 0;\n"));
  EXPECT_THAT(read("acme/v1.cc"), HasSubstr("{\"status\", \"\", \"\", \"Widget\""));

  run({.groupVersions = {"apps/v1"}, .kubeconfig = kubeconfig});
  EXPECT_THAT(read("apps/v1.h"),
              HasSubstr("kube::Shared<kube::corev1::PodTemplateSpec> template_"));
  EXPECT_THAT(read("apps/v1.h"), Not(HasSubstr("struct PodTemplateSpec {")));
  EXPECT_THROW(run({.groupVersions = {"none.example.com/v1"}, .kubeconfig = kubeconfig}), Error);
  EXPECT_THROW(run({.groupVersions = {"v1"}, .kubeconfig = kubeconfig}), Error);
}

}  // namespace
}  // namespace kube::cmd
