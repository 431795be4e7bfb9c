#include "kube/meta/validation/object_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kube::validation {
namespace {

using metav1::ObjectMeta;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ErrorPath kField("field");

std::vector<std::string> texts(const FieldErrors& errors) {
  std::vector<std::string> result;
  for (const FieldError& error : errors) result.push_back(error.str());
  return result;
}

TEST(ObjectMetaValidationTest, TakesAnOrdinaryObject) {
  const ObjectMeta meta{.name = "web-1",
                        .generateName = "web-",
                        .namespace_ = "book",
                        .labels = {{"app", "web"}},
                        .annotations = {{"Example.com/Note", "any text: at all"}},
                        .ownerReferences = {{.apiVersion = "apps/v1",
                                             .kind = "ReplicaSet",
                                             .name = "web",
                                             .uid = "1",
                                             .controller = true}},
                        .finalizers = {"example.com/volume"},
                        .managedFields = {{.manager = "kubectl", .operation = "Update"}}};
  EXPECT_THAT(texts(validateObjectMeta(meta)), IsEmpty());
}

TEST(ObjectMetaValidationTest, NamesFollowTheRuleOfTheResource) {
  const ObjectMetaRules rules{.namespaced = false, .name = [](std::string_view name, bool) {
                                return name == "test" ? Reasons{} : Reasons{"wrong value"};
                              }};
  const auto check = [&](ObjectMeta meta) {
    return texts(validateObjectMeta(meta, rules, kField));
  };
  EXPECT_THAT(check({.name = "test"}), IsEmpty());
  EXPECT_THAT(check({.name = "test", .generateName = "test"}), IsEmpty());
  EXPECT_THAT(check({.name = "bad"}),
              ElementsAre(R"(field.name: Invalid value: "bad": wrong value)"));
  EXPECT_THAT(check({.name = "bad", .generateName = "bad"}),
              ElementsAre(R"(field.generateName: Invalid value: "bad": wrong value)",
                          R"(field.name: Invalid value: "bad": wrong value)"));
}

TEST(ObjectMetaValidationTest, ANameIsRequired) {
  EXPECT_THAT(texts(validateObjectMeta({.namespace_ = "a"})),
              ElementsAre("metadata.name: Required value: name or generateName is required"));
  EXPECT_THAT(texts(validateObjectMeta({.name = "A", .namespace_ = "a"})),
              ElementsAre(HasSubstr(
                  "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain")));
}

TEST(ObjectMetaValidationTest, TheNamespaceGoesWithTheScope) {
  EXPECT_THAT(texts(validateObjectMeta({.name = "a"})),
              ElementsAre("metadata.namespace: Required value"));
  EXPECT_THAT(texts(validateObjectMeta({.name = "a", .namespace_ = "b"}, {.namespaced = false})),
              ElementsAre("metadata.namespace: Forbidden: not allowed on this type"));
  EXPECT_THAT(
      texts(validateObjectMeta({.name = "a", .namespace_ = "foo.bar"})),
      ElementsAre(R"(metadata.namespace: Invalid value: "foo.bar": must not contain dots)"));
  EXPECT_EQ(validateObjectMeta({.name = "a", .namespace_ = std::string(64, 'A')}).size(), 2U);
}

TEST(ObjectMetaValidationTest, AGenerateNameMayEndInADash) {
  EXPECT_THAT(nameIsDNSSubdomain("foo-", true), IsEmpty());
  EXPECT_THAT(nameIsDNSLabel("foo-", true), IsEmpty());
  EXPECT_THAT(nameIsDNS1035Label("foo-", true), IsEmpty());
  EXPECT_FALSE(nameIsDNSSubdomain("foo-", false).empty());
  EXPECT_FALSE(nameIsDNSSubdomain("-", true).empty());
  EXPECT_FALSE(nameIsDNSLabel("a.b-", true).empty());
  EXPECT_THAT(nameIsPathSegment("..", true), IsEmpty());
  EXPECT_FALSE(nameIsPathSegment("..", false).empty());
}

TEST(ObjectMetaValidationTest, LabelsAreReportedByKeyAndValue) {
  EXPECT_THAT(
      texts(validateObjectMeta({.name = "a", .namespace_ = "b", .labels = {{"a b", "c d"}}})),
      ElementsAre(HasSubstr("metadata.labels: Invalid value: \"a b\": name part must consist of"),
                  HasSubstr("metadata.labels: Invalid value: \"c d\": a valid label must be")));
}

TEST(ObjectMetaValidationTest, AnnotationsAreLimitedInAll) {
  const auto check = [](const Map<String>& annotations) {
    return texts(validateAnnotations(annotations, kField));
  };
  const auto text = [](std::size_t n) { return std::string(n, 'b'); };
  EXPECT_THAT(check({{"simple", "bar"}}), IsEmpty());
  EXPECT_THAT(check({{"1.2.3.4/5678", "bar"}}), IsEmpty());
  EXPECT_THAT(check({{"UpperCase123", "bar"}}), IsEmpty());
  EXPECT_THAT(check({{"a", text(kTotalAnnotationSizeLimit - 1)}}), IsEmpty());
  EXPECT_THAT(check({{"a", text(kTotalAnnotationSizeLimit / 2 - 1)},
                     {"c", text(kTotalAnnotationSizeLimit / 2 - 1)}}),
              IsEmpty());
  EXPECT_THAT(check({{"nospecialchars^=@", ""}}), ElementsAre(HasSubstr("name part must consist")));
  EXPECT_THAT(check({{"cantendwithadash-", ""}}), ElementsAre(HasSubstr("name part must consist")));
  EXPECT_THAT(check({{"only/one/slash", ""}}), ElementsAre(HasSubstr("a valid label key")));
  EXPECT_THAT(check({{std::string(254, 'a'), ""}}), ElementsAre(HasSubstr("must be no more than")));
  EXPECT_THAT(check({{"a", text(kTotalAnnotationSizeLimit)}}),
              ElementsAre("field: Too long: may not be more than 262144 bytes"));
  EXPECT_EQ(check({{"a", text(kTotalAnnotationSizeLimit / 2)},
                   {"c", text(kTotalAnnotationSizeLimit / 2)}})
                .size(),
            1U);
}

metav1::OwnerReference owner(std::string_view kind, std::optional<bool> controller = {}) {
  return {.apiVersion = "example/v1",
          .kind = kind,
          .name = "name",
          .uid = "1",
          .controller = controller};
}

TEST(ObjectMetaValidationTest, OneOwnerMayBeTheController) {
  const auto check = [](const List<metav1::OwnerReference>& owners) {
    return texts(validateOwnerReferences(owners, kField));
  };
  EXPECT_THAT(check({owner("A")}), IsEmpty());
  EXPECT_THAT(check({owner("A", false), owner("B", true), owner("C", false), owner("D")}),
              IsEmpty());
  EXPECT_THAT(check({owner("A", false), owner("B", true), owner("C", true)}),
              ElementsAre(AllOf(
                  HasSubstr(R"(field: Invalid value: [{"apiVersion":"example/v1",)"),
                  HasSubstr("Only one reference can have Controller set to true. Found \"true\" in "
                            "references for B/name and C/name"))));
}

TEST(ObjectMetaValidationTest, OwnersAreNamedCompletely) {
  EXPECT_THAT(texts(validateOwnerReferences({metav1::OwnerReference{}}, kField)),
              ElementsAre("field.apiVersion: Invalid value: \"\": version must not be empty",
                          "field.kind: Invalid value: \"\": must not be empty",
                          "field.name: Invalid value: \"\": must not be empty",
                          "field.uid: Invalid value: \"\": must not be empty"));
  metav1::OwnerReference event = owner("Event");
  event.apiVersion = "v1";
  EXPECT_THAT(texts(validateOwnerReferences({event}, kField)),
              ElementsAre(HasSubstr("/v1, Kind=Event is disallowed from being an owner")));
}

TEST(ObjectMetaValidationTest, FinalizersAreQualifiedNamesThatDoNotConflict) {
  EXPECT_THAT(texts(validateFinalizers({"x/a", "kubernetes"}, kField)), IsEmpty());
  EXPECT_THAT(texts(validateFinalizers({"a b"}, kField)),
              ElementsAre(HasSubstr("field: Invalid value: \"a b\"")));
  EXPECT_THAT(texts(validateFinalizers({"orphan", "foregroundDeletion"}, kField)),
              ElementsAre(R"(field: Invalid value: ["orphan","foregroundDeletion"]: finalizer )"
                          "orphan and foregroundDeletion cannot be both set"));
}

TEST(ObjectMetaValidationTest, ManagedFieldsAreWellFormed) {
  const auto check = [](metav1::ManagedFieldsEntry entry) {
    return texts(validateManagedFields({std::move(entry)}, kField));
  };
  EXPECT_THAT(check({.manager = "größe", .operation = "Apply", .fieldsType = "FieldsV1"}),
              IsEmpty());
  EXPECT_THAT(check({.operation = "apply"}),
              ElementsAre("field[0].operation: Invalid value: \"apply\": must be `Apply` or "
                          "`Update`"));
  EXPECT_THAT(check({.operation = "Apply", .fieldsType = "V2"}),
              ElementsAre("field[0].fieldsType: Invalid value: \"V2\": must be `FieldsV1`"));
  EXPECT_THAT(
      check({.manager = "a\tb", .operation = "Apply"}),
      ElementsAre("field[0].manager: Invalid value: \"a\\tb\": invalid character U+0009 (at "
                  "position 1)"));
  EXPECT_THAT(check({.manager = std::string(129, 'a'), .operation = "Apply"}),
              ElementsAre("field[0].manager: Too long: may not be more than 128 bytes"));
  EXPECT_THAT(check({.operation = "Apply", .subresource = std::string(257, 'a')}),
              ElementsAre("field[0].subresource: Too long: may not be more than 256 bytes"));
}

TEST(ObjectMetaUpdateTest, FieldsThatTheServerSetsAreImmutable) {
  const Time now = Time::fromUnix(1000);
  const Time later = Time::fromUnix(2000);
  const auto check = [](ObjectMeta meta, ObjectMeta old) {
    meta.name = old.name = "test";
    meta.resourceVersion = old.resourceVersion = "1";
    return texts(validateObjectMetaUpdate(meta, old, kField));
  };
  EXPECT_THAT(check({}, {}), IsEmpty());
  EXPECT_THAT(check({.deletionTimestamp = now, .deletionGracePeriodSeconds = 30},
                    {.deletionTimestamp = now, .deletionGracePeriodSeconds = 30}),
              IsEmpty());
  EXPECT_THAT(check({.deletionTimestamp = now}, {}),
              ElementsAre("field.deletionTimestamp: Invalid value: \"1970-01-01T00:16:40Z\": field "
                          "is immutable"));
  EXPECT_THAT(check({}, {.deletionTimestamp = now}),
              ElementsAre("field.deletionTimestamp: Invalid value: null: field is immutable"));
  EXPECT_THAT(check({.deletionTimestamp = later}, {.deletionTimestamp = now}),
              ElementsAre("field.deletionTimestamp: Invalid value: \"1970-01-01T00:33:20Z\": field "
                          "is immutable"));
  EXPECT_THAT(
      check({.deletionGracePeriodSeconds = 40}, {.deletionGracePeriodSeconds = 30}),
      ElementsAre("field.deletionGracePeriodSeconds: Invalid value: 40: field is immutable"));
  EXPECT_THAT(
      check({}, {.deletionGracePeriodSeconds = 30}),
      ElementsAre("field.deletionGracePeriodSeconds: Invalid value: null: field is immutable"));
  EXPECT_EQ(check({}, {.creationTimestamp = now}).size(), 1U);
  EXPECT_EQ(check({.creationTimestamp = now}, {.creationTimestamp = later}).size(), 1U);
  EXPECT_THAT(check({.uid = "b"}, {.uid = "a"}),
              ElementsAre("field.uid: Invalid value: \"b\": field is immutable"));
  EXPECT_THAT(check({.namespace_ = "b"}, {.namespace_ = "a"}),
              ElementsAre("field.namespace: Invalid value: \"b\": field is immutable"));
}

TEST(ObjectMetaUpdateTest, NeedsAResourceVersionAndTheSameName) {
  EXPECT_THAT(
      texts(validateObjectMetaUpdate({.name = "b"}, {.name = "a"})),
      ElementsAre("metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
                  "metadata.name: Invalid value: \"b\": field is immutable"));
}

TEST(ObjectMetaUpdateTest, GenerationsOnlyGrow) {
  const auto check = [](std::int64_t generation, std::int64_t old) {
    return texts(validateObjectMetaUpdate({.resourceVersion = "1", .generation = generation},
                                          {.resourceVersion = "1", .generation = old}, kField));
  };
  EXPECT_THAT(check(4, 5),
              ElementsAre("field.generation: Invalid value: 4: must not be decremented"));
  EXPECT_THAT(check(5, 5), IsEmpty());
  EXPECT_THAT(check(2, 1), IsEmpty());
}

TEST(ObjectMetaUpdateTest, AnObjectBeingDeletedGetsNoNewFinalizers) {
  const auto check = [](List<String> finalizers, List<String> old, Time deleted) {
    return texts(validateObjectMetaUpdate(
        {.resourceVersion = "1", .deletionTimestamp = deleted, .finalizers = finalizers},
        {.resourceVersion = "1", .deletionTimestamp = deleted, .finalizers = old}, kField));
  };
  const Time now = Time::fromUnix(1000);
  EXPECT_THAT(check({"x/a", "y/b", "x/c"}, {"x/a"}, now),
              ElementsAre("field.finalizers: Forbidden: no new finalizers can be added if the "
                          "object is being deleted, found new finalizers []string{\"x/c\", "
                          "\"y/b\"}"));
  EXPECT_EQ(check({"x/b"}, {"x/a"}, now).size(), 1U);
  EXPECT_THAT(check({"x/a"}, {"x/a", "y/b"}, now), IsEmpty());
  EXPECT_THAT(check({"x/a", "y/b"}, {"x/a"}, {}), IsEmpty());
}

TEST(LabelSelectorValidationTest, OperatorsGoWithTheirValues) {
  const metav1::LabelSelector selector{
      .matchLabels = {{"a", "b"}},
      .matchExpressions = {{.key = "a", .operator_ = "In", .values = {"x"}},
                           {.key = "a", .operator_ = "In"},
                           {.key = "a", .operator_ = "Exists", .values = {"x"}},
                           {.key = "a", .operator_ = "Is"},
                           {.key = "-", .operator_ = "NotIn", .values = {"ok", "-"}}}};
  EXPECT_THAT(
      texts(validateLabelSelector(selector, kField)),
      ElementsAre("field.matchExpressions[1].values: Required value: must be specified when "
                  "`operator` is 'In' or 'NotIn'",
                  "field.matchExpressions[2].values: Forbidden: may not be specified when "
                  "`operator` is 'Exists' or 'DoesNotExist'",
                  "field.matchExpressions[3].operator: Invalid value: \"Is\": not a valid selector "
                  "operator",
                  HasSubstr("field.matchExpressions[4].key: Invalid value: \"-\""),
                  HasSubstr("field.matchExpressions[4].values[1]: Invalid value: \"-\"")));
}

TEST(ConditionValidationTest, FollowsUpstream) {
  const metav1::Condition good{.type = "example.com/Ready",
                               .status = "True",
                               .lastTransitionTime = Time::fromUnix(1),
                               .reason = "ReasonA:ReasonB,_1"};
  EXPECT_THAT(texts(validateConditions({good}, kField)), IsEmpty());
  EXPECT_THAT(texts(validateConditions({good, good}, kField)),
              ElementsAre("field[1].type: Duplicate value: \"example.com/Ready\""));
  EXPECT_THAT(
      texts(validateConditions({{.type = "a", .status = "x", .observedGeneration = -1}}, kField)),
      ElementsAre(
          "field[0].status: Unsupported value: \"x\": supported values: \"False\", "
          "\"True\", \"Unknown\"",
          "field[0].observedGeneration: Invalid value: -1: must be greater than or equal to "
          "zero",
          "field[0].lastTransitionTime: Required value", "field[0].reason: Required value"));
  metav1::Condition bad = good;
  for (const std::string_view reason : {"1a", "a:", "a b", "-"}) {
    bad.reason = reason;
    EXPECT_THAT(texts(validateConditions({bad}, kField)),
                ElementsAre(HasSubstr("a condition reason must start with alphabetic character")));
  }
  bad.reason = std::string(1025, 'a');
  bad.message = std::string(32769, 'a');
  EXPECT_THAT(texts(validateConditions({bad}, kField)),
              ElementsAre("field[0].reason: Too long: may not be more than 1024 bytes",
                          "field[0].message: Too long: may not be more than 32768 bytes"));
}

}  // namespace
}  // namespace kube::validation
