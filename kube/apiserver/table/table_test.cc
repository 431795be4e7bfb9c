// No threads.

#include "kube/apiserver/table/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "kube/api/core/v1.h"
#include "kube/api/flowcontrol/v1.h"
#include "kube/api/registry.h"
#include "kube/apiserver/table/table_testing.h"
#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"
#include "kube/codec/yaml.h"
#include "kube/meta/internal/human_duration.h"
#include "kube/meta/unstructured.h"

namespace kube::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

AnyObject objectOf(const std::string& yaml) {
  const Unstructured dynamic{parseYaml(yaml)};
  const TypeInfo* type = builtInKind(dynamic.apiVersion(), dynamic.kind());
  if (type == nullptr) return AnyObject(dynamic);
  AnyObject object(*type);
  fromUnstructured(*type, object.data(), dynamic);
  return object;
}

std::string text(const RawExtension& cell) {
  const Value value = parseJson(cell.raw);
  return value.isString() ? value.asString().str() : cell.raw.str();
}

// "web | 1/2 | Running"
std::string cellsOf(const metav1::TableRow& row) {
  std::string out;
  for (const RawExtension& cell : row.cells) out += (out.empty() ? "" : " | ") + text(cell);
  return out;
}
std::string cellsOf(const std::string& yaml) {
  const AnyObject object = objectOf(yaml);
  const auto table = TableFormat(object.type()).object(object, {.now = kTableTime});
  EXPECT_EQ(table.columnDefinitions.size(), table.rows[0].cells.size());
  return cellsOf(table.rows[0]);
}

std::string namesOf(const TableFormat& format, int priority = 1) {
  std::string out;
  for (const auto& column : format.columns()) {
    if (column.priority <= priority) out += (out.empty() ? "" : "|") + column.name.str();
  }
  return out;
}

// --- Durations.

TEST(HumanDurationTest, HasTwoOrThreeFigures) {
  const std::pair<std::chrono::microseconds, std::string> cases[] = {{0s, "0s"},
                                                                     {999ms, "0s"},
                                                                     {1s, "1s"},
                                                                     {119s, "119s"},
                                                                     {120s, "2m"},
                                                                     {330s, "5m30s"},
                                                                     {599s, "9m59s"},
                                                                     {600s, "10m"},
                                                                     {179min, "179m"},
                                                                     {3h, "3h"},
                                                                     {3h + 5min, "3h5m"},
                                                                     {7h + 59min, "7h59m"},
                                                                     {8h + 30min, "8h"},
                                                                     {47h, "47h"},
                                                                     {48h, "2d"},
                                                                     {51h, "2d3h"},
                                                                     {24h * 8, "8d"},
                                                                     {24h * 729, "729d"},
                                                                     {24h * 730, "2y"},
                                                                     {24h * 740, "2y10d"},
                                                                     {24h * 365 * 8, "8y"},
                                                                     {24h * 365 * 20, "20y"}};
  for (const auto& [duration, shown] : cases) EXPECT_EQ(detail::humanDuration(duration), shown);
}

TEST(HumanDurationTest, BelowZeroIsForgivenForASecond) {
  EXPECT_EQ(detail::humanDuration(-1s), "0s");
  EXPECT_EQ(detail::humanDuration(-1999ms), "0s");
  EXPECT_EQ(detail::humanDuration(-2s), "<invalid>");
}

TEST(HumanDurationTest, AgesOfAnyTimeAreSafe) {
  EXPECT_EQ(detail::humanAge(Time(), kTableTime), "<unknown>");
  EXPECT_EQ(detail::humanAge(Time::fromUnix(std::numeric_limits<std::int64_t>::max()), kTableTime),
            "<invalid>");
  EXPECT_THAT(
      detail::humanAge(Time::fromUnix(std::numeric_limits<std::int64_t>::min() + 1), kTableTime),
      ::testing::EndsWith("y"));
}

// --- Tables in general.

TEST(TableTest, OfOneObjectHasItsResourceVersion) {
  const AnyObject object =
      objectOf("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, resourceVersion: '7'}}");
  const auto table = TableFormat(object.type()).object(object, {.now = kTableTime});
  EXPECT_EQ(table.metadata.resourceVersion, "7");
  EXPECT_EQ(table.rows.size(), 1U);
}

TEST(TableTest, OfAListHasTheListsMetadata) {
  std::vector<std::shared_ptr<const AnyObject>> objects;
  for (const char* name : {"a", "b"}) {
    corev1::ConfigMap map;
    map.metadata.name = name;
    objects.push_back(std::make_shared<const AnyObject>(map));
  }
  const auto table =
      TableFormat(TypeOf<corev1::ConfigMap>::info)
          .list(objects, {.resourceVersion = "9", .continue_ = "next", .remainingItemCount = 3},
                {.now = kTableTime});
  EXPECT_EQ(table.metadata.resourceVersion, "9");
  EXPECT_EQ(table.metadata.continue_, "next");
  EXPECT_EQ(table.metadata.remainingItemCount, 3);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(cellsOf(table.rows[1]), "b | 0 | <unknown>");
}

TEST(TableTest, WithoutHeadersHasRowsOnly) {
  const AnyObject object = objectOf("{apiVersion: v1, kind: Secret, metadata: {name: a}}");
  const auto table =
      TableFormat(object.type()).object(object, {.now = kTableTime, .headers = false});
  EXPECT_TRUE(table.columnDefinitions.empty());
  EXPECT_EQ(cellsOf(table.rows[0]), "a | Opaque | 0 | <unknown>");
}

TEST(TableTest, CellsKeepTheirJsonTypes) {
  const AnyObject object = objectOf(
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 5, "
      "globalDefault: true}");
  const auto table = TableFormat(object.type()).object(object, {.now = kTableTime});
  std::vector<std::string> cells;
  for (const auto& cell : table.rows[0].cells) cells.push_back(cell.raw.str());
  EXPECT_THAT(cells,
              ElementsAre("\"a\"", "5", "true", "\"<unknown>\"", "\"PreemptLowerPriority\""));
}

TEST(TableTest, RowsCarryAsMuchOfTheObjectAsAskedFor) {
  const AnyObject object = objectOf(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {x: z}}, data: {k: v}}");
  const TableFormat format(object.type());
  const auto rawOf = [&](IncludeObject include, std::string_view version) {
    return format.object(object, {.now = kTableTime, .includeObject = include, .version = version})
        .rows[0]
        .object.raw.str();
  };
  EXPECT_EQ(rawOf(IncludeObject::None, "v1"), "");
  const Value metadata = parseJson(rawOf(IncludeObject::Metadata, "v1"));
  EXPECT_EQ(metadata["kind"].asString(), "PartialObjectMetadata");
  EXPECT_EQ(metadata["apiVersion"].asString(), "meta.k8s.io/v1");
  EXPECT_EQ(metadata["metadata"]["labels"]["x"].asString(), "z");
  EXPECT_TRUE(metadata["data"].isNull());
  EXPECT_EQ(parseJson(rawOf(IncludeObject::Metadata, "v1beta1"))["apiVersion"].asString(),
            "meta.k8s.io/v1beta1");
  const Value whole = parseJson(rawOf(IncludeObject::Object, "v1"));
  EXPECT_EQ(whole["kind"].asString(), "ConfigMap");
  EXPECT_EQ(whole["data"]["k"].asString(), "v");
}

TEST(TableTest, IncludeObjectIsReadFromTheParameter) {
  EXPECT_EQ(parseIncludeObject(""), IncludeObject::Metadata);
  EXPECT_EQ(parseIncludeObject("Metadata"), IncludeObject::Metadata);
  EXPECT_EQ(parseIncludeObject("None"), IncludeObject::None);
  EXPECT_EQ(parseIncludeObject("Object"), IncludeObject::Object);
  EXPECT_EQ(parseIncludeObject("object"), std::nullopt);
}

TEST(TableTest, IsJsonOfEitherVersion) {
  const AnyObject object = objectOf("{apiVersion: v1, kind: Secret, metadata: {name: a}}");
  const auto table = TableFormat(object.type()).object(object, {.now = kTableTime});
  const Value v1 = parseJson(tableJson(table));
  EXPECT_EQ(v1["kind"].asString(), "Table");
  EXPECT_EQ(v1["apiVersion"].asString(), "meta.k8s.io/v1");
  Value beta = parseJson(tableJson(table, "v1beta1"));
  EXPECT_EQ(beta["apiVersion"].asString(), "meta.k8s.io/v1beta1");
  beta["apiVersion"] = "meta.k8s.io/v1";
  EXPECT_EQ(beta, v1);
}

TEST(TableTest, OfAKindWithoutColumnsShowsNameAndCreation) {
  const std::string role =
      "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a, "
      "creationTimestamp: '2024-01-01T00:00:00Z'}}";
  const AnyObject object = objectOf(role);
  EXPECT_EQ(namesOf(TableFormat(object.type())), "Name|Created At");
  EXPECT_EQ(TableFormat(object.type()).columns()[1].type, "date");
  EXPECT_EQ(cellsOf(role), "a | 2024-01-01T00:00:00Z");
}

// Every served kind has a table, which works for an empty object too.
TEST(TableTest, OfAnEmptyObjectOfAnyKind) {
  for (const TypeInfo* type : builtInKinds()) {
    if (type->resource->plural.empty()) continue;
    const AnyObject object(*type);
    const auto table = TableFormat(*type).object(object, {.now = kTableTime});
    ASSERT_EQ(table.rows.size(), 1U) << type->name;
    EXPECT_EQ(table.rows[0].cells.size(), table.columnDefinitions.size()) << type->name;
    for (const auto& column : table.columnDefinitions) {
      EXPECT_FALSE(column.name.empty() || column.type.empty() || column.description.empty())
          << type->name;
    }
  }
}

TEST(TableTest, OfFlowSchemasIsInOrderOfPrecedence) {
  std::vector<AnyObject> objects;
  for (const auto& [name, precedence] :
       {std::pair("c", 1000), std::pair("b", 1000), std::pair("a", 9000), std::pair("d", 1)}) {
    flowcontrolv1::FlowSchema schema;
    schema.metadata.name = name;
    schema.spec->matchingPrecedence = precedence;
    objects.emplace_back(schema);
  }
  const auto table =
      TableFormat(TypeOf<flowcontrolv1::FlowSchema>::info).list(objects, {}, {.now = kTableTime});
  std::string order;
  for (const auto& row : table.rows) order += text(row.cells[0]);
  EXPECT_EQ(order, "dbca");
}

// --- Custom resources.

List<apiextensionsv1::CustomResourceColumnDefinition> customColumns() {
  return {{.name = "Size", .type = "integer", .jsonPath = ".spec.size"},
          {.name = "Ratio", .type = "number", .jsonPath = ".spec.ratio"},
          {.name = "On", .type = "boolean", .jsonPath = ".spec.active"},
          {.name = "Text", .type = "string", .description = "said", .jsonPath = ".spec.text"},
          {.name = "Since", .type = "date", .priority = 1, .jsonPath = ".spec.since"}};
}

std::string customCells(const std::string& spec) {
  const AnyObject object = objectOf(
      "{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}, spec: " + spec + "}");
  return cellsOf(TableFormat(customColumns()).object(object, {.now = kTableTime}).rows[0]);
}

TEST(CustomTableTest, HasItsPrinterColumns) {
  const TableFormat format(customColumns());
  EXPECT_EQ(namesOf(format), "Name|Size|Ratio|On|Text|Since");
  EXPECT_EQ(namesOf(format, 0), "Name|Size|Ratio|On|Text");
  EXPECT_EQ(format.columns()[0].format, "name");
  EXPECT_EQ(format.columns()[4].description, "said");
  EXPECT_FALSE(format.columns()[1].description.empty());
  EXPECT_EQ(
      customCells("{size: 3, ratio: 0.5, active: true, text: hi, since: '2024-01-11T11:55:00Z'}"),
      "t | 3 | 0.5 | true | hi | 5m");
}

TEST(CustomTableTest, CellsOfAnotherTypeAreNull) {
  EXPECT_EQ(customCells("{}"), "t | null | null | null | null | null");
  EXPECT_EQ(customCells("{size: x, ratio: x, active: x, since: 1}"),
            "t | null | null | null | null | null");
  EXPECT_EQ(customCells("{size: 2.9, ratio: 2, text: {a: [1]}, since: yesterday}"),
            R"(t | 2 | 2 | null | {"a":[1]} | <invalid>)");
  EXPECT_EQ(customCells("{size: 2, since: ''}"), "t | 2 | null | null | null | <unknown>");
}

TEST(CustomTableTest, PathsMayFilterAndGoAstray) {
  const List<apiextensionsv1::CustomResourceColumnDefinition> columns = {
      {.name = "Ready",
       .type = "string",
       .jsonPath = ".status.conditions[?(@.type==\"Ready\")].status"},
      {.name = "Astray", .type = "string", .jsonPath = ".metadata.name[3].x"}};
  const AnyObject object = objectOf(
      "{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}, status: {conditions: "
      "[{type: Old, status: 'False'}, {type: Ready, status: 'True'}]}}");
  EXPECT_EQ(cellsOf(TableFormat(columns).object(object, {.now = kTableTime}).rows[0]),
            "t | True | null");
}

TEST(CustomTableTest, WithoutColumnsShowsNameAndAge) {
  const AnyObject object = objectOf(
      "{apiVersion: example.com/v1, kind: Thing, metadata: {name: t, resourceVersion: '3', "
      "creationTimestamp: '2024-01-09T09:00:00Z'}}");
  const TableFormat format{List<apiextensionsv1::CustomResourceColumnDefinition>()};
  EXPECT_EQ(namesOf(format), "Name|Age");
  const auto table = format.object(object, {.now = kTableTime});
  EXPECT_EQ(cellsOf(table.rows[0]), "t | 2d3h");
  EXPECT_EQ(table.metadata.resourceVersion, "3");
  EXPECT_EQ(parseJson(table.rows[0].object.raw)["metadata"]["name"].asString(), "t");
}

TEST(CustomTableTest, ABadPathIsAnErrorThatNamesTheColumn) {
  try {
    TableFormat format({{.name = "Size", .type = "integer", .jsonPath = ".spec[?(@"}});
    FAIL() << "no error";
  } catch (const DecodeError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Size"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr(".spec[?(@"));
  }
}

// --- Kinds. table_kinds_test.cc has more of them.

TEST(PodTableTest, ColumnsAreTheServers) {
  const TableFormat format(TypeOf<corev1::Pod>::info);
  EXPECT_EQ(namesOf(format, 0), "Name|Ready|Status|Restarts|Age");
  EXPECT_EQ(namesOf(format),
            "Name|Ready|Status|Restarts|Age|IP|Node|Nominated Node|Readiness Gates");
}

struct PodCase {
  const char* what;
  const char* pod;       // all but its name
  const char* expected;  // ready | status | restarts
};

TEST(PodTableTest, StatusSaysWhatKeepsAPodFromRunning) {
  const PodCase cases[] = {
      {"ready and restarts are added up",
       "spec: {containers: [{}, {}]}\nstatus: {phase: Running, containerStatuses: [{ready: true, "
       "restartCount: 3, state: {running: {}}}, {restartCount: 3}]}",
       "1/2 | Running | 6"},
      {"no phase is Pending", "spec: {containers: [{}]}", "0/1 | Pending | 0"},
      {"the pod's own reason", "status: {phase: Failed, reason: Evicted}", "0/0 | Evicted | 0"},
      {"what a container waits for",
       "spec: {containers: [{}, {}]}\nstatus: {phase: Running, containerStatuses: [{ready: true, "
       "state: {running: {}}}, {state: {waiting: {reason: CrashLoopBackOff}}, restartCount: 4}]}",
       "1/2 | CrashLoopBackOff | 4"},
      {"the first container has the last word",
       "spec: {containers: [{}, {}]}\nstatus: {phase: P, containerStatuses: [{state: {waiting: "
       "{reason: ImagePullBackOff}}}, {state: {terminated: {reason: Error}}}]}",
       "0/2 | ImagePullBackOff | 0"},
      {"an end without a reason, by signal",
       "status: {containerStatuses: [{state: {terminated: {signal: 9}}}]}", "0/0 | Signal:9 | 0"},
      {"an end without a reason, by exit code",
       "status: {containerStatuses: [{state: {terminated: {exitCode: 3}}}]}",
       "0/0 | ExitCode:3 | 0"},
      {"completed",
       "status: {phase: Succeeded, containerStatuses: [{state: {terminated: {reason: "
       "Completed}}}]}",
       "0/0 | Completed | 0"},
      {"one completed, one running, not ready",
       "status: {phase: Running, containerStatuses: [{state: {terminated: {reason: Completed}}}, "
       "{ready: true, state: {running: {}}}]}",
       "1/0 | NotReady | 0"},
      {"one completed, one running, ready",
       "status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: "
       "[{state: {terminated: {reason: Completed}}}, {ready: true, state: {running: {}}}]}",
       "1/0 | Running | 0"},
      {"completed, though it was ready just now",
       "status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: "
       "[{state: {terminated: {reason: Completed}}}]}",
       "0/0 | Completed | 0"},
      {"one completed, one failed",
       "status: {phase: Running, containerStatuses: [{state: {terminated: {reason: Completed}}}, "
       "{state: {terminated: {reason: OOMKilled, exitCode: 137}}}]}",
       "0/0 | OOMKilled | 0"},
      {"gated",
       "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: "
       "SchedulingGated}]}",
       "0/0 | SchedulingGated | 0"},
      {"terminating",
       "status: {phase: Running, containerStatuses: [{state: {running: {}}}]}\n"
       "deleted: true",
       "0/0 | Terminating | 0"},
      {"deleted, but done", "status: {phase: Succeeded}\ndeleted: true", "0/0 | Succeeded | 0"},
      {"deleted on a lost node", "status: {phase: Running, reason: NodeLost}\ndeleted: true",
       "0/0 | Unknown | 0"},
      {"last restart",
       "status: {phase: Running, containerStatuses: [{ready: true, restartCount: 6, "
       "state: {running: {}}, lastState: {terminated: {finishedAt: "
       "'2024-01-11T11:55:00Z'}}}, {ready: true, restartCount: 3, state: {running: "
       "{}}, lastState: {terminated: {finishedAt: '2024-01-01T12:00:00Z'}}}]}",
       "2/0 | Running | 9 (5m ago)"},
  };
  for (const PodCase& test : cases) {
    std::string pod = test.pod;
    std::string meta = "name: p";
    if (const auto at = pod.find("\ndeleted: true"); at != std::string::npos) {
      pod.resize(at);
      meta += ", deletionTimestamp: '2024-01-11T11:59:50Z'";
    }
    const std::string cells =
        cellsOf("apiVersion: v1\nkind: Pod\nmetadata: {" + meta + "}\n" + pod);
    EXPECT_EQ(cells, std::string("p | ") + test.expected +
                         " | <unknown> | <none> | <none> | <none> | <none>")
        << test.what;
  }
}

TEST(PodTableTest, InitContainersComeFirst) {
  const PodCase cases[] = {
      {"running",
       "spec: {initContainers: [{}], containers: [{}]}\nstatus: {phase: Pending, "
       "initContainerStatuses: [{restartCount: 3, state: {running: {}}, lastState: {terminated: "
       "{finishedAt: '2024-01-11T11:59:50Z'}}}], containerStatuses: [{state: {waiting: {}}}]}",
       "0/1 | Init:0/1 | 3 (10s ago)"},
      {"the second",
       "spec: {initContainers: [{}, {}], containers: [{}]}\nstatus: {phase: Pending, "
       "initContainerStatuses: [{restartCount: 2, state: {terminated: {}}}, {restartCount: 3, "
       "state: {running: {}}}]}",
       "0/1 | Init:1/2 | 5"},
      {"waiting for nothing of note",
       "spec: {initContainers: [{}]}\nstatus: {initContainerStatuses: [{state: {waiting: {reason: "
       "PodInitializing}}}]}",
       "0/0 | Init:0/1 | 0"},
      {"waiting",
       "status: {initContainerStatuses: [{state: {waiting: {reason: CrashLoopBackOff}}}]}",
       "0/0 | Init:CrashLoopBackOff | 0"},
      {"failed",
       "status: {initContainerStatuses: [{state: {terminated: {reason: Error, exitCode: "
       "1}}}]}",
       "0/0 | Init:Error | 0"},
      {"failed with a code",
       "status: {initContainerStatuses: [{state: {terminated: {exitCode: 2}}}]}",
       "0/0 | Init:ExitCode:2 | 0"},
      {"failed by a signal",
       "status: {initContainerStatuses: [{state: {terminated: {exitCode: 2, signal: 15}}}]}",
       "0/0 | Init:Signal:15 | 0"},
      {"ended, so that the others count",
       "spec: {initContainers: [{}], containers: [{}]}\nstatus: {phase: Running, "
       "initContainerStatuses: [{restartCount: 2, state: {terminated: {}}}], containerStatuses: "
       "[{restartCount: 4, ready: true, state: {running: {}}}]}",
       "1/1 | Running | 4"},
      {"a sidecar counts among the containers",
       "spec: {initContainers: [{name: s, restartPolicy: Always}], containers: [{}]}\nstatus: "
       "{phase: Running, initContainerStatuses: [{name: s, ready: true, started: true, "
       "restartCount: 3, state: {running: {}}}], containerStatuses: [{restartCount: 4, ready: "
       "true, state: {running: {}}}]}",
       "2/2 | Running | 7"},
      {"a sidecar that has not started",
       "spec: {initContainers: [{name: s, restartPolicy: Always}], containers: [{}]}\nstatus: "
       "{phase: Pending, initContainerStatuses: [{name: s, started: false, state: {running: {}}}]}",
       "0/2 | Init:0/1 | 0"},
  };
  for (const PodCase& test : cases) {
    const std::string cells =
        cellsOf(std::string("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n") + test.pod);
    EXPECT_EQ(cells, std::string("p | ") + test.expected +
                         " | <unknown> | <none> | <none> | <none> | <none>")
        << test.what;
  }
}

TEST(PodTableTest, WideCellsSayWhereItIs) {
  EXPECT_EQ(cellsOf("apiVersion: v1\nkind: Pod\nmetadata: {name: p, creationTimestamp: "
                    "'2024-01-06T09:00:00Z'}\nspec: {nodeName: n1, containers: [{}], "
                    "readinessGates: [{conditionType: a}, {conditionType: b}]}\nstatus: {phase: "
                    "Running, podIP: 1.1.1.1, podIPs: [{ip: 1.1.1.1}, {ip: '2001::'}], "
                    "nominatedNodeName: n2, conditions: [{type: a, status: 'True'}, {type: b, "
                    "status: 'False'}], containerStatuses: [{ready: true, state: {running: {}}}]}"),
            "p | 1/1 | Running | 0 | 5d3h | 1.1.1.1 | n1 | n2 | 1/2");
}

TEST(PodTableTest, RowsOfPodsThatEndedSaySo) {
  for (const std::string phase : {"Succeeded", "Failed", "Running"}) {
    const AnyObject object =
        objectOf("{apiVersion: v1, kind: Pod, status: {phase: " + phase + "}}");
    const auto row = TableFormat(object.type()).object(object, {.now = kTableTime}).rows[0];
    if (phase == "Running") {
      EXPECT_TRUE(row.conditions.empty());
      continue;
    }
    ASSERT_EQ(row.conditions.size(), 1U);
    EXPECT_EQ(row.conditions[0].type, "Completed");
    EXPECT_EQ(row.conditions[0].status, "True");
    EXPECT_EQ(row.conditions[0].reason, phase);
  }
}

}  // namespace
}  // namespace kube::apiserver
