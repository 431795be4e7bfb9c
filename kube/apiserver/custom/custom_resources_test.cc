#include "kube/apiserver/custom/custom_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/apiserver/schema/schema_testing.h"

namespace kube::apiserver {
namespace {

using apiextensionsv1::CustomResourceDefinition;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

CustomResourceDefinition networks() {
  auto crd = fromYaml<CustomResourceDefinition>(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: networks.sample.example.com}
spec:
  group: sample.example.com
  scope: Namespaced
  names: {plural: networks, kind: Network, shortNames: [net]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {replicas: {type: integer}, color: {type: string}}}
          status: {type: object, properties: {replicas: {type: integer}}}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    selectableFields: [{jsonPath: .spec.color}]
)");
  return crd;
}

// The definition as a server prepares it.
CustomResourceDefinition taken(CustomResourceDefinition crd,
                               const CustomResourceDefinition* old = nullptr) {
  setDefinitionDefaults(crd);
  prepareDefinition(crd, old);
  return crd;
}
std::vector<std::string> faultsOf(const CustomResourceDefinition& crd,
                                  const CustomResourceDefinition* old = nullptr) {
  return texts(validateDefinition(taken(crd, old), old));
}

TEST(CustomResourceDefinitionsTest, GetTheirDefaults) {
  const CustomResourceDefinition crd = taken(networks());
  EXPECT_EQ(crd.spec->names->singular, "network");
  EXPECT_EQ(crd.spec->names->listKind, "NetworkList");
  EXPECT_EQ(crd.spec->conversion->strategy, "None");
  EXPECT_THAT(crd.status->storedVersions, ElementsAre("v1"));
  EXPECT_EQ(crd.metadata.generation, 1);
  EXPECT_THAT(faultsOf(networks()), IsEmpty());
}

TEST(CustomResourceDefinitionsTest, AreNamedAfterTheirResource) {
  CustomResourceDefinition crd = networks();
  crd.metadata.name = "nets.sample.example.com";
  EXPECT_THAT(faultsOf(crd),
              ElementsAre("metadata.name: Invalid value: \"nets.sample.example.com\": must be "
                          "spec.names.plural+\".\"+spec.group"));
}

TEST(CustomResourceDefinitionsTest, NeedGoodNames) {
  CustomResourceDefinition crd = networks();
  crd.metadata.name = "Networks.sample.example.com";
  crd.spec->names->plural = "Networks";
  crd.spec->names->listKind = "Network";
  crd.spec->names->shortNames = {"Net"};
  crd.spec->names->categories = {"all!"};
  EXPECT_THAT(faultsOf(crd),
              ElementsAre(HasSubstr("metadata.name: Invalid value"),
                          StartsWith("spec.names.plural: Invalid value: \"Networks\": a DNS-1035"),
                          StartsWith("spec.names.shortNames[0]: Invalid value: \"Net\""),
                          "spec.names.listKind: Invalid value: \"Network\": kind and listKind may "
                          "not be the same",
                          StartsWith("spec.names.categories[0]: Invalid value: \"all!\"")));
  crd = networks();
  crd.spec->names->kind = "";
  crd.spec->scope = "Galaxy";
  EXPECT_THAT(faultsOf(crd),
              ElementsAre("spec.scope: Unsupported value: \"Galaxy\": supported values: "
                          "\"Cluster\", \"Namespaced\"",
                          "spec.names.singular: Required value", "spec.names.kind: Required value",
                          "spec.names.listKind: Required value"));
}

TEST(CustomResourceDefinitionsTest, NeedAGroupThatIsADomain) {
  CustomResourceDefinition crd = networks();
  crd.spec->group = "sample";
  crd.metadata.name = "networks.sample";
  EXPECT_THAT(faultsOf(crd), ElementsAre("spec.group: Invalid value: \"sample\": should be a "
                                         "domain with at least one dot"));
}

TEST(CustomResourceDefinitionsTest, OfProtectedGroupsNeedAnApproval) {
  CustomResourceDefinition crd = networks();
  crd.spec->group = "samplecrd.k8s.io";
  crd.metadata.name = "networks.samplecrd.k8s.io";
  EXPECT_THAT(
      faultsOf(crd),
      ElementsAre("metadata.annotations[api-approved.kubernetes.io]: Required value: protected "
                  "groups must have approval annotation \"api-approved.kubernetes.io\", see "
                  "https://github.com/kubernetes/enhancements/pull/1111"));
  crd.metadata.annotations[kApiApprovedAnnotation] = "nonsense";
  EXPECT_THAT(faultsOf(crd), ElementsAre(HasSubstr("with either a URL or a reason starting")));
  for (const char* good : {"unapproved, for a test", "https://github.com/kubernetes/x/pull/1"}) {
    crd.metadata.annotations[kApiApprovedAnnotation] = good;
    EXPECT_THAT(faultsOf(crd), IsEmpty()) << good;
  }
}

TEST(CustomResourceDefinitionsTest, HaveOneStorageVersion) {
  CustomResourceDefinition crd = networks();
  crd.spec->versions.push_back(crd.spec->versions[0]);
  EXPECT_THAT(faultsOf(crd),
              ElementsAre("spec.versions: Invalid value: [\"v1\",\"v1\"]: must contain unique "
                          "version names",
                          "spec.versions: Invalid value: [\"v1\",\"v1\"]: must have exactly one "
                          "version marked as storage version"));
  crd.spec->versions.clear();
  EXPECT_THAT(faultsOf(crd),
              ElementsAre("spec.versions: Invalid value: []: must have exactly one version marked "
                          "as storage version",
                          "status.storedVersions: Invalid value: []: must have at least one stored "
                          "version"));
}

TEST(CustomResourceDefinitionsTest, NeedASchemaThatIsStructural) {
  CustomResourceDefinition crd = networks();
  crd.spec->versions[0].schema.reset();
  crd.spec->versions[0].selectableFields.clear();
  EXPECT_THAT(faultsOf(crd),
              ElementsAre("spec.versions[0].schema.openAPIV3Schema: Required value"));
  crd = networks();
  crd.spec->versions[0].schema->openAPIV3Schema->properties["x"] = {};
  EXPECT_THAT(
      faultsOf(crd),
      ElementsAre("spec.validation.openAPIV3Schema.properties[x].type: Required value: must "
                  "not be empty for specified object fields"));
  // An error in a schema that only one version has is reported for that version.
  auto second = crd.spec->versions[0];
  second.name = "v2";
  second.storage = false;
  second.schema->openAPIV3Schema->properties.write("x").type = "string";
  crd.spec->versions.push_back(second);
  EXPECT_THAT(faultsOf(crd),
              ElementsAre("spec.versions[0].schema.openAPIV3Schema.properties[x].type: Required "
                          "value: must not be empty for specified object fields"));
}

TEST(CustomResourceDefinitionsTest, WithAStatusHaveASimpleRoot) {
  CustomResourceDefinition crd = networks();
  crd.spec->versions[0].schema->openAPIV3Schema->maxProperties = 5;
  EXPECT_THAT(faultsOf(crd), ElementsAre(HasSubstr("fields are allowed at the root of the schema "
                                                   "if the status subresource is enabled")));
}

TEST(CustomResourceDefinitionsTest, HavePathsUnderSpecAndStatus) {
  CustomResourceDefinition crd = networks();
  auto& scale = crd.spec->versions[0].subresources->scale.write();
  scale.specReplicasPath = "spec.replicas";
  scale.statusReplicasPath = ".spec.replicas";
  scale.labelSelectorPath = ".metadata.name";
  EXPECT_THAT(faultsOf(crd),
              ElementsAre("spec.subresources.scale.specReplicasPath: Invalid value: "
                          "\"spec.replicas\": must be a simple json path starting with .",
                          "spec.subresources.scale.statusReplicasPath: Invalid value: "
                          "\".spec.replicas\": should be a json path under .status",
                          "spec.subresources.scale.labelSelectorPath: Invalid value: "
                          "\".metadata.name\": should be a json path under either .spec or "
                          ".status"));
}

TEST(CustomResourceDefinitionsTest, HaveColumnsOfKnownTypes) {
  CustomResourceDefinition crd = networks();
  crd.spec->versions[0].additionalPrinterColumns = {
      {.name = "A", .type = "integer", .jsonPath = ".spec.replicas"},
      {.type = "float", .format = "int16", .jsonPath = "spec"}};
  EXPECT_THAT(
      faultsOf(crd),
      ElementsAre("spec.additionalPrinterColumns[1].name: Required value",
                  "spec.additionalPrinterColumns[1].type: Invalid value: \"float\": must be "
                  "one of boolean,date,integer,number,string",
                  "spec.additionalPrinterColumns[1].format: Invalid value: \"int16\": must "
                  "be one of byte,date,date-time,double,float,int32,int64,password",
                  "spec.additionalPrinterColumns[1].JSONPath: Invalid value: \"spec\": must "
                  "be a simple json path starting with ."));
}

TEST(CustomResourceDefinitionsTest, SelectByFieldsThatAreThere) {
  CustomResourceDefinition crd = networks();
  crd.spec->versions[0].selectableFields = {{".spec.color"}, {".spec.color"}, {".spec"},
                                            {".spec.size"},  {".spec[0]"},    {"spec"}};
  EXPECT_THAT(
      faultsOf(crd),
      ElementsAre("spec.selectableFields[1].jsonPath: Duplicate value: \".spec.color\"",
                  "spec.selectableFields[2].jsonPath: Invalid value: \".spec\": must point to a "
                  "field of type string, boolean or integer. Enum string fields and strings with "
                  "formats are allowed.",
                  "spec.selectableFields[3].jsonPath: Invalid value: \".spec.size\": is an invalid "
                  "path: does not refer to a valid field",
                  "spec.selectableFields[4].jsonPath: Invalid value: \".spec[0]\": is an invalid "
                  "path: array notation is not allowed",
                  HasSubstr("spec.selectableFields[5].jsonPath: Invalid value: \"spec\": is an "
                            "invalid path")));
}

TEST(CustomResourceDefinitionsTest, AreNotConvertedByWebhooks) {
  CustomResourceDefinition crd = networks();
  crd.spec->conversion->strategy = "Webhook";
  EXPECT_THAT(faultsOf(crd),
              ElementsAre(StartsWith("spec.conversion.strategy: Forbidden: the embedded API server "
                                     "calls no conversion webhooks")));
  crd.spec->conversion->strategy = "None";
  crd.spec->conversion->webhook->conversionReviewVersions = {"v1"};
  EXPECT_THAT(faultsOf(crd),
              ElementsAre("spec.conversion.conversionReviewVersions: Forbidden: should not be set "
                          "when strategy is not set to Webhook"));
}

TEST(CustomResourceDefinitionsTest, KeepWhatTheirObjectsAreStoredUnder) {
  CustomResourceDefinition old = taken(networks());
  old.metadata.uid = "u";
  old.metadata.resourceVersion = "1";
  acceptNames(old, {}, Time::fromUnix(1));
  CustomResourceDefinition crd = old;
  crd.spec->names->kind = "Net";
  crd.spec->scope = "Cluster";
  EXPECT_THAT(faultsOf(crd, &old),
              ElementsAre("spec.scope: Invalid value: \"Cluster\": field is immutable",
                          "spec.names.kind: Invalid value: \"Net\": field is immutable"));
  // A stored version stays until its objects are known to be gone.
  crd = old;
  crd.spec->versions[0].name = "v2";
  EXPECT_THAT(
      faultsOf(crd, &old),
      ElementsAre(StartsWith("status.storedVersions[0]: Invalid value: \"v1\": missing from "
                             "spec.versions; v1 was previously a storage version")));
  EXPECT_THAT(taken(crd, &old).status.read().storedVersions, ElementsAre("v1", "v2"));
  EXPECT_EQ(taken(crd, &old).metadata.generation, 2);
  EXPECT_EQ(taken(old, &old).metadata.generation, 1);
}

TEST(CustomResourceDefinitionsTest, OfUnknownFormatsAreWarnedAbout) {
  CustomResourceDefinition crd = networks();
  EXPECT_THAT(definitionWarnings(crd), IsEmpty());
  crd.spec->versions[0].schema->openAPIV3Schema->properties["x"] = {.type = "string",
                                                                    .format = "colour"};
  EXPECT_THAT(definitionWarnings(crd), ElementsAre("unrecognized format \"colour\""));
  EXPECT_THAT(definitionWarnings(crd, &crd), IsEmpty());
}

// --- Names.

std::string conditions(const CustomResourceDefinition& crd) {
  std::string text;
  for (const auto& each : crd.status->conditions) {
    text += each.type + "=" + each.status + " " + each.reason + " (" + each.message + ") " +
            std::to_string(each.lastTransitionTime.unixSeconds()) + "\n";
  }
  return text;
}

TEST(CustomResourceNamesTest, AreAcceptedWhenFree) {
  CustomResourceDefinition crd = taken(networks());
  acceptNames(crd, {}, Time::fromUnix(100));
  EXPECT_EQ(crd.status->acceptedNames.read(), crd.spec->names.read());
  EXPECT_EQ(conditions(crd),
            "NamesAccepted=True NoConflicts (no conflicts found) 100\n"
            "Established=True InitialNamesAccepted (the initial names have been accepted) 100\n");
  acceptNames(crd, {}, Time::fromUnix(200));
  EXPECT_THAT(conditions(crd), Not(HasSubstr("200")));
}

TEST(CustomResourceNamesTest, OfOthersAreRefused) {
  TakenNames others;
  others.add({.plural = "networks",
              .singular = "network",
              .shortNames = {"net"},
              .kind = "Net",
              .listKind = "NetList"});
  CustomResourceDefinition crd = taken(networks());
  acceptNames(crd, others, Time::fromUnix(100));
  EXPECT_EQ(conditions(crd),
            "NamesAccepted=False ShortNamesConflict (\"net\" is already in use) 100\n"
            "Established=False NotAccepted (not all names are accepted) 100\n");
  EXPECT_EQ(crd.status->acceptedNames->plural, "");
  EXPECT_EQ(crd.status->acceptedNames->kind, "Network");

  crd = taken(networks());
  acceptNames(crd, {.resources = {"networks"}}, Time::fromUnix(100));
  EXPECT_THAT(conditions(crd),
              StartsWith("NamesAccepted=False PluralConflict (\"networks\" is already in use)"));
  // When the other definition is gone, this one gets the name.
  acceptNames(crd, {}, Time::fromUnix(200));
  EXPECT_THAT(conditions(crd), HasSubstr("Established=True InitialNamesAccepted"));
  EXPECT_THAT(conditions(crd), Not(HasSubstr("100")));
}

TEST(CustomResourceNamesTest, ThatConflictLaterDoNotUnestablish) {
  CustomResourceDefinition crd = taken(networks());
  acceptNames(crd, {}, Time::fromUnix(100));
  crd.spec->names->shortNames = {"net", "nw"};
  acceptNames(crd, {.resources = {"nw"}}, Time::fromUnix(200));
  EXPECT_EQ(conditions(crd),
            "NamesAccepted=False ShortNamesConflict (\"nw\" is already in use) 200\n"
            "Established=True InitialNamesAccepted (the initial names have been accepted) 100\n");
  EXPECT_THAT(crd.status->acceptedNames->shortNames, ElementsAre("net"));
  EXPECT_TRUE(isConditionTrue(crd, "Established"));
  EXPECT_FALSE(isConditionTrue(crd, "NamesAccepted"));
}

TEST(CustomResourceNamesTest, OfProtectedGroupsSayWhetherTheyAreApproved) {
  CustomResourceDefinition crd = taken(networks());
  crd.spec->group = "samplecrd.k8s.io";
  crd.metadata.annotations[kApiApprovedAnnotation] = "unapproved, a test";
  acceptNames(crd, {}, Time::fromUnix(100));
  EXPECT_THAT(conditions(crd),
              HasSubstr("KubernetesAPIApprovalPolicyConformant=False UnapprovedAnnotation (not "
                        "approved: \"unapproved, a test\") 100\n"));
  crd.metadata.annotations[kApiApprovedAnnotation] = "https://example.com/1";
  acceptNames(crd, {}, Time::fromUnix(200));
  EXPECT_THAT(
      conditions(crd),
      HasSubstr("KubernetesAPIApprovalPolicyConformant=True ApprovedAnnotation (approved in "
                "https://example.com/1) 200\n"));
}

// --- Versions.

TEST(CustomVersionsTest, AreCompiledForServing) {
  CustomResourceDefinition crd = networks();
  auto second = crd.spec->versions[0];
  second.name = "v1alpha1";
  second.storage = false;
  second.deprecated = true;
  second.subresources.reset();
  second.additionalPrinterColumns = {
      {.name = "Color", .type = "string", .jsonPath = ".spec.color"}};
  crd.spec->versions.push_back(second);
  const std::vector<CustomVersion> versions = compileVersions(taken(crd));
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0].version, "v1");
  EXPECT_TRUE(versions[0].served && versions[0].storage && versions[0].statusSubresource);
  EXPECT_EQ(versions[0].scale, (ScalePaths{".spec.replicas", ".status.replicas"}));
  EXPECT_THAT(versions[0].selectableFields, ElementsAre("spec.color"));
  EXPECT_EQ(versions[0].columns[0].name, "Age");
  EXPECT_EQ(versions[0].warning, "");
  EXPECT_EQ(versions[1].warning, "sample.example.com/v1alpha1 Network is deprecated");
  EXPECT_FALSE(versions[1].scale || versions[1].statusSubresource);
  EXPECT_EQ(versions[1].columns[0].name, "Color");
  EXPECT_EQ(versions[0].schema, versions[1].schema);
}

TEST(CustomVersionsTest, OfAnInvalidSchemaThrow) {
  CustomResourceDefinition crd = networks();
  crd.spec->versions[0].schema->openAPIV3Schema->type = "";
  EXPECT_THROW(compileVersions(crd), ValidationError);
}

}  // namespace
}  // namespace kube::apiserver
