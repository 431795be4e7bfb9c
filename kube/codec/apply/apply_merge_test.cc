// Merging and comparing two objects.
#include <gtest/gtest.h>

#include <string>

#include "kube/codec/apply/internal/apply_types_testing.h"
#include "kube/codec/apply/internal/apply_walk.h"
#include "kube/codec/json.h"
#include "kube/codec/patch/patch_error.h"
#include "kube/codec/yaml.h"

namespace kube::detail {
namespace {

const ApplyPlace kSpec = ApplyPlace::root(&TypeOf<applytypes::Spec>::info);
const ApplyPlace kDeduced = ApplyPlace::root(nullptr);

std::string merged(std::string_view lhs, std::string_view rhs, const ApplyPlace& place = kSpec) {
  const Value a = parseYaml(lhs);
  const Value b = parseYaml(rhs);
  const auto result = merge(&a, &b, place);
  return result ? toJson(*result) : "nothing";
}

TEST(ApplyMergeTest, ElementsOfSetsAreInTheOrderOfBoth) {
  struct Case {
    const char *lhs, *rhs, *out;
  };
  for (const Case& c : {
           Case{"[a, b, c]", "[a, b]", "[a, b, c]"},
           Case{"[a, b]", "[a, b, c]", "[a, b, c]"},
           Case{"[a, b, c]", "[]", "[a, b, c]"},
           Case{"[]", "[a, b, c]", "[a, b, c]"},
           Case{"[a, b]", "[b, a]", "[b, a]"},
           Case{"[a, b, c]", "[d, e, f]", "[a, b, c, d, e, f]"},
           Case{"[a, b, c]", "[c, d, e, f]", "[a, b, c, d, e, f]"},
           Case{"[a, b, c, g, f]", "[c, d, e, f]", "[a, b, c, g, d, e, f]"},
           Case{"[c, d, e, f]", "[a, c, e]", "[a, c, d, e, f]"},
           Case{"[a, b, c, x, w, z]", "[d, e, f, x, w, z]", "[a, b, c, d, e, f, x, w, z]"},
           Case{"[c, a, g, f]", "[c, f, a, g]", "[c, f, a, g]"},
           Case{"[a, b, c, d]", "[d, e, f, a]", "[b, c, d, e, f, a]"},
           Case{"[c, d, e, f, g, h, i, j]", "[p, h, q, e, r, k, l]",
                "[c, d, f, g, p, h, i, j, q, e, r, k, l]"},
           Case{"[a, b, c, d, e, f, g, h, i, j]", "[o, b, p, h, q, e, r, k, l]",
                "[a, o, b, c, d, f, g, p, h, i, j, q, e, r, k, l]"},
           // Elements that occur several times.
           Case{"[a, b, b]", "[c]", "[a, b, b, c]"},
           Case{"[a, b, b]", "[b]", "[a, b]"},
           Case{"[a, b, c, d, e, c]", "[o, b, p, e, d]", "[a, o, b, c, p, e, c, d]"},
           Case{"[a, b, c, d, e, c]", "[o, b, p, c, e, d]", "[a, o, b, p, c, e, d]"},
           Case{"[a, a, b, b]", "[b, c, d]", "[a, a, b, c, d]"},
           Case{"[a, a, b, b]", "[]", "[a, a, b, b]"},
           Case{"[c, a, g, f, c, a]", "[c, f, a, g]", "[c, f, a, g]"},
       }) {
    const auto in = [](std::string_view list) { return "{finalizers: " + std::string(list) + "}"; };
    EXPECT_EQ(merged(in(c.lhs), in(c.rhs)), toJson(parseYaml(in(c.out)))) << c.lhs << ' ' << c.rhs;
  }
}

TEST(ApplyMergeTest, ElementsAreMergedByTheirKeys) {
  EXPECT_EQ(
      merged("{parts: [{name: a, value: x}, {name: b}]}",
             "{parts: [{name: c}, {name: a, options: {k: v}}]}"),
      R"({"parts":[{"name":"c"},{"name":"a","options":{"k":"v"},"value":"x"},{"name":"b"}]})");
  EXPECT_EQ(merged("{ports: [{containerPort: 80, protocol: TCP, name: old}]}",
                   "{ports: [{containerPort: 80, name: new}, {containerPort: 80, protocol: UDP}]}"),
            R"({"ports":[{"containerPort":80,"name":"new","protocol":"TCP"},)"
            R"({"containerPort":80,"protocol":"UDP"}]})");
  EXPECT_EQ(merged("{parts: [{name: a, value: x}, {name: b}, {name: a, value: z}]}",
                   "{parts: [{name: a, value: w}, {name: c}, {name: b}]}"),
            R"({"parts":[{"name":"a","value":"w"},{"name":"c"},{"name":"b"}]})");
  EXPECT_THROW(merged("{parts: []}", "{parts: [{name: a}, {name: a}]}"), PatchError);
}

TEST(ApplyMergeTest, AtomicValuesAreReplaced) {
  EXPECT_EQ(
      merged("{args: [a, b], selector: {x: a}, ref: {name: a, uid: b}, unmarked: [{name: a}]}",
             "{args: [c], selector: {z: b}, ref: {uid: c}, unmarked: [{name: b}]}"),
      R"({"args":["c"],"ref":{"uid":"c"},"selector":{"z":"b"},"unmarked":[{"name":"b"}]})");
  EXPECT_EQ(merged("{granularRef: {name: a}}", "{granularRef: {uid: c}}"),
            R"({"granularRef":{"name":"a","uid":"c"}})");
}

TEST(ApplyMergeTest, NullAndEmptyAreToldApart) {
  EXPECT_EQ(merged("{}", "{labels: {}}"), R"({"labels":{}})");
  EXPECT_EQ(merged("{}", "{labels: null}"), R"({"labels":null})");
  EXPECT_EQ(merged("{labels: null}", "{labels: {}}"), R"({"labels":{}})");
  EXPECT_EQ(merged("{labels: {}}", "{labels: null}"), R"({"labels":null})");
  EXPECT_EQ(merged("{labels: {a: b}}", "{labels: null}"), R"({"labels":{"a":"b"}})");
  EXPECT_EQ(merged("{args: [a]}", "{args: null}"), R"({"args":null})");
  EXPECT_EQ(merged("{replicas: 1}", "{replicas: null}"), R"({"replicas":null})");
  EXPECT_EQ(merged("{finalizers: []}", "{finalizers: null}"), R"({"finalizers":null})");
}

TEST(ApplyMergeTest, WithoutSchemaListsAreReplaced) {
  EXPECT_EQ(merged("{a: {b: 1, l: [1, 2]}}", "{a: {c: 2, l: [3]}}", kDeduced),
            R"({"a":{"b":1,"c":2,"l":[3]}})");
  EXPECT_EQ(merged("{a: {b: 1}}", "{a: 5}", kDeduced), R"({"a":5})");
  EXPECT_EQ(merged("{a: 5}", "{a: {b: 1}}", kDeduced), R"({"a":{"b":1}})");
}

std::string compared(std::string_view lhs, std::string_view rhs, const ApplyPlace& place = kSpec) {
  const Comparison c = compare(parseYaml(lhs), parseYaml(rhs), place);
  std::string text;
  const auto add = [&](const char* sign, const FieldSet& set) {
    for (const auto& path : set.paths())
      text += (text.empty() ? "" : " ") + (sign + toString(path));
  };
  add("-", c.removed);
  add("~", c.modified);
  add("+", c.added);
  return text;
}

TEST(ApplyCompareTest, TellsFieldsApart) {
  EXPECT_EQ(compared("{replicas: 1, amount: 1Gi}", "{replicas: 2, port: 1}"),
            "-.amount ~.replicas +.port");
  EXPECT_EQ(compared("{replicas: 1}", "{replicas: 1.0}"), "");
  EXPECT_EQ(compared("{labels: {a: b, c: d}}", "{labels: {a: x, e: f}}"),
            "-.labels.c ~.labels.a +.labels.e");
  EXPECT_EQ(compared("{selector: {a: b}}", "{selector: {a: b, c: d}}"), "~.selector");
  EXPECT_EQ(compared("{args: [a]}", "{args: [a, b]}"), "~.args");
  EXPECT_EQ(compared("{finalizers: [a, b]}", "{finalizers: [b, c]}"),
            R"(-.finalizers[="a"] +.finalizers[="c"])");
  EXPECT_EQ(compared("{finalizers: [a, b]}", "{finalizers: [b, a]}"), "");
  EXPECT_EQ(compared("{parts: [{name: a, value: x}]}", "{parts: [{name: a, value: z}, {name: b}]}"),
            R"(~.parts[name="a"].value +.parts[name="b"] +.parts[name="b"].name)");
  EXPECT_EQ(compared("{labels: {}}", "{labels: null}"), "~.labels");
  EXPECT_EQ(compared("{}", "{labels: {}}"), "+.labels");
}

TEST(ApplyCompareTest, AnAddedContainerIsAFieldTooUnlessItIsAlwaysThere) {
  EXPECT_EQ(compared("{}", "{labels: {a: b}, finalizers: [x]}"),
            R"(+.finalizers +.labels +.finalizers[="x"] +.labels.a)");
  EXPECT_EQ(compared("{}", "{pointer: {name: a}}"), "+.pointer +.pointer.name");
  EXPECT_EQ(compared("{}", "{part: {name: a}}"), "+.part.name");
  EXPECT_EQ(compared("{part: {name: a}}", "{}"), "-.part.name");
}

TEST(ApplyCompareTest, ElementsOfOneIdentityAreComparedAsOne) {
  EXPECT_EQ(compared("{finalizers: [a, a]}", "{finalizers: [a, a]}"), "");
  EXPECT_EQ(compared("{finalizers: [a, a]}", "{finalizers: [a, a, a]}"), R"(~.finalizers[="a"])");
  EXPECT_EQ(compared("{finalizers: [a]}", "{finalizers: [a, a]}"),
            R"(-.finalizers[="a"] +.finalizers[="a"])");
  EXPECT_EQ(
      compared("{parts: [{name: a}, {name: a}]}", "{parts: [{name: a, value: v}]}"),
      R"(-.parts[name="a"] +.parts[name="a"] +.parts[name="a"].name +.parts[name="a"].value)");
}

TEST(ApplyCompareTest, WithoutSchemaAValueMayChangeItsForm) {
  EXPECT_EQ(compared("{a: {b: 1}}", "{a: 5}", kDeduced), "-.a.b ~.a");
  EXPECT_EQ(compared("{a: 5}", "{a: {b: 1}}", kDeduced), "~.a +.a.b");
  EXPECT_EQ(compared("{a: [1]}", "{a: 5}", kDeduced), "~.a");
  EXPECT_EQ(compared("{a: [1]}", "{a: [1, 2]}", kDeduced), "~.a");
  EXPECT_EQ(compared("{}", "{a: {b: {c: 1}}}", kDeduced), "+.a +.a.b +.a.b.c");
}

TEST(ApplyReconcileTest, APartThatBecameAtomicIsOneField) {
  const FieldSet before = {{"selector", "a"}, {"args", PathElement::value("x")},
                           {"ref"},           {"ref", "name"},
                           {"labels", "a"},   {"unknown", "x"}};
  EXPECT_EQ(reconciled(before, kSpec),
            FieldSet({{"selector"}, {"args"}, {"ref"}, {"labels", "a"}, {"unknown", "x"}}));
}

}  // namespace
}  // namespace kube::detail
