#include "kube/codec/jsonpath/json_path.h"

#include <gtest/gtest.h>

#include <thread>

#include "kube/base/error.h"
#include "kube/codec/json.h"
#include "kube/codec/unstructured.h"

namespace kube {
namespace {

struct Case {
  const char* text;
  const char* expected;
};

void expectPrints(const Value& object, std::initializer_list<Case> cases,
                  const JsonPathOptions& options = {}) {
  for (const Case& test : cases) {
    SCOPED_TRACE(test.text);
    try {
      EXPECT_EQ(JsonPath::parse(test.text).print(object, options), test.expected);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

template <class Act>
std::string messageOf(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

void expectFails(const Value& object, std::initializer_list<Case> cases,
                 const JsonPathOptions& options = {}) {
  for (const Case& test : cases) {
    SCOPED_TRACE(test.text);
    const auto path = JsonPath::parse(test.text);
    EXPECT_EQ(messageOf([&] { path.print(object, options); }), test.expected);
    EXPECT_EQ(messageOf([&] { path.find(object, options); }), test.expected);
  }
}

Value json(std::string_view text) { return parseJson(text); }

TEST(JsonPathTest, TakesElementsAndSlices) {
  const Value types = json(R"({
    "bools": [true, false, true, false], "integers": [1, 2, 3, 4], "floats": [1.0, 2.2, 3.3, 4.0],
    "strings": ["one", "two", "three", "four"], "mixed": [true, "one", 1, 1.1],
    "maps": [{"name": "one", "value": 1}, {"name": "two", "value": 2.02},
             {"name": "three", "value": 3.03}, {"name": "four", "value": 4.04}]})");
  expectPrints(
      types, {{"{ .bools }", "[true,false,true,false]"},
              {"{ .bools[0] }", "true"},
              {"{ .bools[-1] }", "false"},
              {"{ .bools[0:2] }", "true false"},
              {"{ .bools[:2] }", "true false"},
              {"{ .bools[:4:2] }", "true true"},
              {"{ .integers[-2] }", "3"},
              {"{ .integers[:4:2] }", "1 3"},
              {"{ .integers[] }", "1"},
              {"{ .integers[:] }", "1 2 3 4"},
              {"{ .integers[*] }", "1 2 3 4"},
              {"{ .floats }", "[1,2.2,3.3,4]"},
              {"{ .floats[0] }", "1"},
              {"{ .floats[-2] }", "3.3"},
              {"{ .strings }", R"(["one","two","three","four"])"},
              {"{ .strings[0] }", "one"},
              {"{ .mixed[:4:2] }", "true 1"},
              {"{ .mixed }", R"([true,"one",1,1.1])"},
              {"{ .maps[-2] }", R"({"name":"three","value":3.03})"},
              {"{ .maps[::2] }", R"({"name":"one","value":1} {"name":"three","value":3.03})"},
              {"{ .maps[1::2] }", R"({"name":"two","value":2.02} {"name":"four","value":4.04})"}});
}

TEST(JsonPathTest, CountsNegativeIndexesFromTheEndAndMindsTheBounds) {
  const Value pod = json(
      R"({"spec":{"containers":[{"name":"fake0"},{"name":"fake1"},{"name":"fake2"},{"name":"fake3"}]}})");
  expectPrints(pod, {{"{.spec.containers[0].name}", "fake0"},
                     {"{.spec.containers[0:0].name}", ""},
                     {"{.spec.containers[0:-1].name}", "fake0 fake1 fake2"},
                     {"{.spec.containers[-1].name}", "fake3"},
                     {"{.spec.containers[-1:].name}", "fake3"},
                     {"{.spec.containers[-2].name}", "fake2"},
                     {"{.spec.containers[-2:].name}", "fake2 fake3"},
                     {"{.spec.containers[-4].name}", "fake0"},
                     {"{.spec.containers[-4:].name}", "fake0 fake1 fake2 fake3"},
                     {"{.spec.containers[5:5].name}", ""},
                     {"{.spec.containers[-5:-5].name}", ""},
                     {"{.spec.containers[0:].name}", "fake0 fake1 fake2 fake3"},
                     {"{.spec.containers[0:4:].name}", "fake0 fake1 fake2 fake3"},
                     {"{.spec.containers[0:4:1].name}", "fake0 fake1 fake2 fake3"},
                     {"{.spec.containers[1:4:2].name}", "fake1 fake3"},
                     {"{.spec.containers[1:4:3].name}", "fake1"},
                     {"{.spec.containers[0:4:9].name}", "fake0"}});
  expectFails(pod,
              {{"{.spec.containers[-1:0].name}",
                "jsonpath: at offset 18: starting index 3 is greater than ending index 0"},
               {"{.spec.containers[-5].name}",
                "jsonpath: at offset 18: array index out of bounds: index -1, length 4"},
               {"{.spec.containers[4].name}",
                "jsonpath: at offset 18: array index out of bounds: index 4, length 4"},
               {"{.spec.containers[0:5].name}",
                "jsonpath: at offset 18: array index out of bounds: index 4, length 4"},
               {"{.spec.containers[3:1].name}",
                "jsonpath: at offset 18: starting index 3 is greater than ending index 1"},
               {"{.spec.containers[-1:-2].name}",
                "jsonpath: at offset 18: starting index 3 is greater than ending index 2"},
               {"{.spec.containers[0:4:0].name}", "jsonpath: at offset 18: step must be > 0"},
               {"{.spec.containers[0:4:-1].name}", "jsonpath: at offset 18: step must be > 0"}});
  // One list with an empty slice does not end the search in the others.
  expectPrints(json("[[1,2],[3,4,5]]"), {{"{[*][1:-1]}", "4"}});
}

const Value& store() {
  static const Value value = json(R"({
    "Name": "jsonpath",
    "Book": [
      {"Category": "reference", "Author": "Nigel Rees", "Title": "Sayings", "Price": 8.95},
      {"Category": "fiction", "Author": "Evelyn Waugh", "Title": "Sword of Honour", "Price": 12.99},
      {"Category": "fiction", "Author": "Herman Melville", "Title": "Moby Dick", "Price": 8.99}],
    "Bicycle": [{"Color": "red", "Price": 19.95, "IsNew": true},
                {"Color": "green", "Price": 20.01, "IsNew": false}],
    "Labels": {"engieer": 10, "web/html": 15, "k8s-app": 20},
    "Employees": {"jason": "manager", "dan": "clerk"}})");
  return value;
}

TEST(JsonPathTest, FillsInTemplates) {
  expectPrints(nullptr, {{"", ""},
                         {"hello jsonpath", "hello jsonpath"},
                         {"a } b", "a } b"},
                         {R"({"{"})", "{"},
                         {"{'it\\'s'}", "it's"},
                         {"{3}{true}{-2.5}", "3true-2.5"}});
  expectPrints(json("[1,2,3]"), {{"{..}", "[1,2,3]"}});
  expectPrints(json("[2,6,3,7]"), {{"{[?(@<5)]}", "2 3"}});
  expectPrints(json("[0,1,2,3,4]"), {{"{[1,3,4]}", "1 3 4"}, {"{[ 1 , 3 ]}", "1 3"}});
  expectPrints(json(R"(["Monday","Tudesday"])"), {{"{[0:2]}", "Monday Tudesday"}});
  expectPrints(
      store(),
      {{"hello {.Name}", "hello jsonpath"},
       {"{$.Labels.web/html}", "15"},
       {"{$.Employees.jason}", "manager"},
       {"{.Labels.k8s-app}", "20"},
       {"{.Bicycle[*].Color}", "red green"},
       {"{.Book[*].Author}", "Nigel Rees Evelyn Waugh Herman Melville"},
       {R"({range .Bicycle[*]}{ "{" }{ @.* }{ "} " }{end})",
        "{red true 19.95} {green false 20.01} "},
       {"{..Price}", "19.95 20.01 8.95 12.99 8.99"},
       {"{...Price}", "19.95 20.01 8.95 12.99 8.99"},
       {"{.Bicycle}",
        R"([{"Color":"red","IsNew":true,"Price":19.95},{"Color":"green","IsNew":false,"Price":20.01}])"},
       {R"({range .Bicycle[*]}{ @ }{ " " }{end})",
        R"({"Color":"red","IsNew":true,"Price":19.95} {"Color":"green","IsNew":false,"Price":20.01} )"},
       {"{.Book[-1:].Title}", "Moby Dick"},
       {"{..Book[2].Title}", "Moby Dick"},
       {"{.Bicycle[?(@.IsNew==true)].Color}", "red"},
       {"{@.Name}{$.Name}{.Name}{['Name']}", "jsonpathjsonpathjsonpathjsonpath"},
       {"{.Employees.*}", "clerk manager"},
       {"{.Labels['web/html']}", "15"}});
}

TEST(JsonPathTest, AMissingMemberIsAnErrorUnlessAllowed) {
  expectFails(store(), {{"{.hello}", "jsonpath: at offset 2: hello is not found"},
                        {"{.Name.hello}", "jsonpath: at offset 7: hello is not found"},
                        {"{..hello}", "jsonpath: at offset 3: hello is not found"},
                        {"{.}", "jsonpath: at offset 2:  is not found"}});
  expectPrints(store(),
               {{"{.hello}", ""},
                {"before-{.hello}after", "before-after"},
                {"{.hello.world[0].x}", ""},
                {"{.Name.hello}", ""},
                {"{..hello}", ""}},
               {.allowMissingKeys = true});
  // Missing values need not be comparable.
  expectPrints(json(R"([{"a":{},"n":1}])"), {{"{[?(@.a==@.b)].n}", ""}, {"{[?(@.b==@.a)].n}", ""}},
               {.allowMissingKeys = true});
  // One node with the member is enough.
  expectPrints(json(R"([{"a":1},{"b":2}])"), {{"{[*].a}", "1"}});
}

TEST(JsonPathTest, PrintsJsonAsGoDoes) {
  const Value note = json(R"({"note":"a < b & c","list":["\u0008>"]})");
  expectPrints(note, {{"{.note}", "a < b & c"},
                      {"{.list}", R"(["\b\u003e"])"},
                      {"{@}", R"({"list":["\b\u003e"],"note":"a \u003c b \u0026 c"})"}});
  EXPECT_EQ(JsonPath::parse("{.note}").printJson(note), "[\n    \"a \\u003c b \\u0026 c\"\n]\n");
}

TEST(JsonPathTest, NamesValuesThatAreNoArrays) {
  expectFails(
      store(),
      {{"{.Labels[0]}", "jsonpath: at offset 9: object is not array or slice"},
       {"{.Name[*]}", "jsonpath: at offset 7: string is not array or slice"},
       {"{.Labels[?(@.x)]}",
        "jsonpath: at offset 8: object is not array or slice and cannot be filtered"},
       {"{.Book[?(@.*==1)]}", "jsonpath: at offset 6: can only compare one element at a time"},
       {"{.Book[?(@.Price=='x')]}",
        "jsonpath: at offset 6: incompatible types for comparison: number and string"},
       {"{.Bicycle[?(@.IsNew<true)]}",
        "jsonpath: at offset 9: invalid type for comparison: boolean"},
       {"{.Book[?(@==1)]}", "jsonpath: at offset 6: invalid type for comparison: object"}});
}

TEST(JsonPathTest, Filters) {
  const Value points = json(R"([
      {"id": "i1", "x": 4, "y": -5},
      {"id": "i2", "x": -2, "y": -5, "z": 1},
      {"id": "i3", "x": 8, "y": 3},
      {"id": "i4", "x": -6, "y": -1},
      {"id": "i5", "x": 0, "y": 2, "z": 1},
      {"id": "i6", "x": 1, "y": 4.5},
      {"id": "i7", "x": null, "y": 4}])");
  expectPrints(points, {{"{[?(@.z)].id}", "i2 i5"},
                        {"{[?(@.x)].id}", "i1 i2 i3 i4 i5 i6 i7"},  // null counts
                        {"{[?(@['z'])].id}", "i2 i5"},
                        {"{[?(@.tags[0])].id}", ""},
                        {"{[0]['id']}", "i1"},
                        {"{[-1]['x']}", "null"},
                        {"{[?(@.y > 2)].id}", "i3 i6 i7"},
                        {"{[?(@.y>=3.0)].id}", "i3 i6 i7"},
                        {"{[?(@.y<-1)].id}", "i1 i2"},
                        {"{[?(@.y <= -1)].id}", "i1 i2 i4"},
                        {"{[?(@.y==4.5)].id}", "i6"},
                        {"{[?(@.y!=-5)].id}", "i3 i4 i5 i6 i7"},
                        {"{[?(@.id>\"i5\")].id}", "i6 i7"},
                        {"{[?(@.id=='i2')].z}", "1"},
                        {"{[?(5>@.y)].id}", "i1 i2 i3 i4 i5 i6 i7"},
                        {"{[?(@.id==@.id)].id}", "i1 i2 i3 i4 i5 i6 i7"}});
  expectFails(points,
              {{"{[?(@.x>0)].id}", "jsonpath: at offset 1: invalid type for comparison: null"},
               {"{[?(@.z>0)].id}", "jsonpath: at offset 6: z is not found"}});
  expectPrints(points, {{"{[?(@.z>0)].id}", "i2 i5"}}, {.allowMissingKeys = true});
  expectPrints(json(R"([{"a":["x"]},{"a":[]},{}])"), {{"{[?(@.a[0])]}", R"({"a":["x"]})"}});
  expectPrints(json(R"~([{"s":"()"},{"s":"(\"\")"},{"s":"=="},{"s":"a)b"}])~"),
               {{R"~({[?(@.s == "()")].s})~", "()"},
                {R"~({[?(@.s == "(\"\")")].s})~", "(\"\")"},
                {R"~({[?(@.s=='==')].s})~", "=="},
                {R"~({[?("a)b"==@.s)].s})~", "a)b"}});
}

const Value& nodes() {
  static const Value value = json(R"({
    "kind": "List",
    "items": [
      {"kind": "None",
       "metadata": {"name": "127.0.0.1", "labels": {"kubernetes.io/hostname": "127.0.0.1"}},
       "status": {"capacity": {"cpu": "4"}, "ready": true,
                  "addresses": [{"type": "LegacyHostIP", "address": "127.0.0.1"}]}},
      {"kind": "None",
       "metadata": {"name": "127.0.0.2", "labels": {"kubernetes.io/hostname": "127.0.0.2"}},
       "status": {"capacity": {"cpu": "8"}, "ready": false,
                  "addresses": [{"type": "LegacyHostIP", "address": "127.0.0.2"},
                                {"type": "another", "address": "127.0.0.3"}]}}],
    "users": [{"name": "myself", "user": {}},
              {"name": "e2e", "user": {"username": "admin", "password": "secret"}}]})");
  return value;
}

TEST(JsonPathTest, EvaluatesTemplatesOfKubectlsUsers) {
  expectPrints(
      nodes(),
      {{"{range .items[*]}{.metadata.name}, {end}{.kind}", "127.0.0.1, 127.0.0.2, List"},
       {R"({range .items[*]}{.metadata.name}{"\t"}{end})", "127.0.0.1\t127.0.0.2\t"},
       {"{.items[*].status.addresses[*].address}", "127.0.0.1 127.0.0.2 127.0.0.3"},
       {"{range .items[*]}{range .status.addresses[*]}{.address}, {end}{end}",
        "127.0.0.1, 127.0.0.2, 127.0.0.3, "},
       {"{.items[*]['metadata.name', 'status.capacity']}",
        R"(127.0.0.1 127.0.0.2 {"cpu":"4"} {"cpu":"8"})"},
       {"{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}",
        R"([127.0.0.1, {"cpu":"4"}] [127.0.0.2, {"cpu":"8"}] )"},
       {R"({.users[?(@.name=="e2e")].user.password})", "secret"},
       {R"({.items[0].metadata.labels.kubernetes\.io/hostname})", "127.0.0.1"},
       {R"({.items[0].metadata.labels['kubernetes\.io/hostname']})", "127.0.0.1"},
       {R"({.items[?(@.metadata.labels.kubernetes\.io/hostname=="127.0.0.1")].kind})", "None"},
       {"{.items[?(@..ready==true)].metadata.name}", "127.0.0.1"},
       {"{..name}", "127.0.0.1 127.0.0.2 myself e2e"},
       {"{range .items[*]}{$.metadata.name} {end}", "127.0.0.1 127.0.0.2 "},
       {"{range .items[*].status.addresses[*]}{.address};{end}",
        "127.0.0.1;127.0.0.2;127.0.0.3;"}});
}

TEST(JsonPathTest, RangesNest) {
  expectPrints(json(R"({"items":[]})"),
               {{"{range .items[*]}{.metadata.name}{end}", ""},
                {R"({range .items[*]}{.a}{":"}{range @.b[*]}{.c}{","}{end}{"+"}{end}.)", "."}});
  const Value pods = json(R"({"items":[
      {"name":"pod1","c":[{"name":"foo","a":["v1","v2"]},{"name":"bar","a":["v1","v2"]}]},
      {"name":"pod2","c":[{"name":"baz","a":["v1","v2"]}]}]})");
  expectPrints(
      pods,
      {{R"({range .items[*]}{.name}{":"}{range @.c[*]}{.name}{","}{end}{"+"}{end})",
        "pod1:foo,bar,+pod2:baz,+"},
       {R"({range .items[*]}{.name}{"~"}{range @.c[*]}{.name}{":"}{range @.a[*]}{@}{","}{end}{"+"}{end}{"#"}{end})",
        "pod1~foo:v1,v2,+bar:v1,v2,+#pod2~baz:v1,v2,+#"},
       {R"({range .items[*]}{.name}{"\t"}{range .c[*]}{.name}{" "}{end}{"\t"}{range .c[*]}{.name}{" "}{end}{"\n"}{end})",
        "pod1\tfoo bar \tfoo bar \npod2\tbaz \tbaz \n"},
       {"{range}{.items[0].name}{end}", "pod1"}});
  expectPrints(
      json(
          R"({"items":[{"n":"pod1","s":{"p":"Running"}},{"n":"pod2","s":{"p":"Running"}},{"x":""}]})"),
      {{R"({range .items[?(.s.p=="Running")]}{.n}{" is Running\n"}{end})",
        "pod1 is Running\npod2 is Running\n"}},
      {.allowMissingKeys = true});
}

TEST(JsonPathTest, ReadsGosEscapes) {
  expectPrints(nullptr, {{R"({"\a\b\f\n\r\t\v\\\"'"})", "\a\b\f\n\r\t\v\\\"'"},
                         {R"({'\'"'})", "'\""},
                         {R"({"\x41\101\u20AC\U0001F600"})", "AA\xE2\x82\xAC\xF0\x9F\x98\x80"},
                         {R"({"\xE2\x82\xAC"})", "\xE2\x82\xAC"},
                         {R"({"\\"})", "\\"}});
}

TEST(JsonPathTest, PrintsNumbersAsGoDoes) {
  expectPrints(json("[1e6, 123456.5, 0.00001, 1e21, 9007199254740993, -0.5, 100000]"),
               {{"{[*]}", "1e+06 123456.5 1e-05 1e+21 9007199254740993 -0.5 100000"}});
}

struct Wrong {
  const char* text;
  std::size_t offset;
  const char* reason;  // the beginning
};

TEST(JsonPathTest, SaysWhereATemplateIsWrong) {
  const std::vector<Wrong> cases = {
      {"{.hello", 7, "unclosed action: expected }"},
      {"{.a\n}", 3, "unclosed action"},
      {"{*}", 1, "unrecognized character in action: U+002A '*'"},
      {"{..*}", 3, "unrecognized character in action: U+002A '*'"},
      {"{\t.a}", 1, "unrecognized character in action: U+0009"},
      {R"({\\\})", 1, "unrecognized character in action: U+005C '\\'"},
      {"{.a,.b}", 3, "unrecognized character in action: U+002C ','"},
      {"{{.a}}", 1, "unrecognized character in action: U+007B '{'"},
      {"{+12.3.0}", 1, "cannot parse number +12.3.0"},
      {"{-}", 1, "cannot parse number -"},
      {"{1e5}", 2, "unrecognized identifier e5"},
      {"{[1}", 1, "unterminated array: expected ]"},
      {"{[1\n]}", 1, "unterminated array"},
      {"{[a]}", 2, "invalid array index a"},
      {"{[\"a\"]}", 2, "invalid array index \"a\""},
      {"{[1:2:3:4]}", 2, "invalid array index 1:2:3:4"},
      {"{[-]}", 2, "array index - is not a number"},
      {"{[1:2-3]}", 4, "array index 2-3 is not a number"},
      {"{[99999999999999999999]}", 2, "array index 99999999999999999999 is not a number"},
      {"{[0,x]}", 4, "invalid array index x"},
      {"{['a', 'b}", 1, "unterminated array"},
      {"{['a b']}", 5, "unrecognized identifier b"},
      {"{[?(.price]}", 1, "unterminated filter: expected )]"},
      {"{[?(@.a==", 1, "unterminated filter"},
      {"{[?(@.a=='x)]}", 1, "unterminated filter"},
      {"{[?(@.a\\", 1, "unterminated filter"},
      {"{[?(@.a)}", 7, "unclosed array: expected ]"},
      {"{[?(@.a<>10)]}", 7, "unrecognized filter operator <>"},
      {"{[?(@.a=10)]}", 7, "unrecognized filter operator ="},
      {"{[?(@.a==)]}", 9, "expected something to compare with after =="},
      {"{[?(=='x')]}", 4, "unrecognized character in action: U+003D '='"},
      {"{[?(@.a==1 && @.b==2)]}", 11, "unrecognized character in action: U+0026 '&'; filters have"},
      {"{[?(@.a[?(@.b)])]}", 7, "unterminated filter"},
      {"{[?(range)]}", 4, "range is only expected right after {"},
      {"{[?(@.a==})]}", 9, "unrecognized character in action: U+007D '}'"},
      {"{........}", 3, "invalid multiple recursive descent"},
      {"{\"b}", 1, "unterminated quoted string: expected \""},
      {"{'b\n'}", 1, "unterminated quoted string: expected '"},
      {"{\"a\\", 1, "unterminated quoted string"},
      {R"({"\q"})", 2, "unknown escape"},
      {R"({"\'"})", 2, "unknown escape"},
      {R"({"\x4"})", 2, "malformed escape"},
      {R"({"\u12"})", 2, "malformed escape"},
      {R"({"\ud800"})", 2, "malformed escape"},
      {R"({"\U00110000"})", 2, "malformed escape"},
      {R"({"\400"})", 2, "malformed escape"},
      {R"({"\18"})", 2, "malformed escape"},
      {R"({"ab\xff"})", 2, "the escapes do not make valid UTF-8"},
      {"{hello}", 1, "unrecognized identifier hello"},
      {"a{end}", 1, "not in range, nothing to end"},
      {"{range .a.*}{@}{end}{end}", 20, "not in range, nothing to end"},
      {"x{range .a}{.b}", 1, "range is not ended: expected {end}"},
      {"{range range .a}{end}", 7, "range is only expected right after {"},
      {"{.a range}{end}", 4, "range is only expected right after {"},
      {"{range .a}{end .b}", 10, "expected {end} and nothing else"},
      {"a\xff", 0, "not valid UTF-8"},
  };
  for (const Wrong& test : cases) {
    SCOPED_TRACE(test.text);
    try {
      JsonPath::parse(test.text);
      ADD_FAILURE() << "was parsed";
    } catch (const DecodeError& error) {
      EXPECT_EQ(error.format(), "jsonpath");
      EXPECT_EQ(error.offset(), test.offset) << error.what();
      EXPECT_TRUE(error.reason().starts_with(test.reason)) << error.what();
    }
  }
}

TEST(JsonPathTest, LimitsNestedRanges) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "{range @}";
    text += "x";
    for (int i = 0; i < depth; ++i) text += "{end}";
    return text;
  };
  EXPECT_EQ(JsonPath::parse(nested(64)).print(Value(1)), "x");
  EXPECT_THROW(JsonPath::parse(nested(65)), DecodeError);
}

TEST(JsonPathTest, GivesResultsAsValuesThatShareTheirMemory) {
  const auto found = JsonPath::parse("a{.items[*].status.capacity}{.kind}").find(nodes());
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0], Value("a"));
  EXPECT_EQ(found[1], json(R"({"cpu":"4"})"));
  EXPECT_EQ(found[3], Value("List"));
  EXPECT_TRUE(found[2].asObject().sharesWith(nodes()["items"][1]["status"]["capacity"].asObject()));
}

TEST(JsonPathTest, PrintsJsonOnDemand) {
  const Value object = json(R"({"a":[1,{"b":"x"}],"c":"y"})");
  EXPECT_EQ(JsonPath::parse("{.a[*]}{.c}").printJson(object),
            "[\n    1,\n    {\n        \"b\": \"x\"\n    }\n]\n[\n    \"y\"\n]\n");
  EXPECT_EQ(JsonPath::parse("{.x}").printJson(object, {.allowMissingKeys = true}), "[]\n");
}

TEST(JsonPathTest, ReadsUnstructuredObjects) {
  const Unstructured object = parseUnstructured(R"({"kind":"Pod","metadata":{"name":"web"}})");
  EXPECT_EQ(JsonPath::parse("{.kind}/{.metadata.name}").print(object), "Pod/web");
  EXPECT_EQ(JsonPath::parse("{..name}").find(AnyObject(object)), (std::vector<Value>{"web"}));
}

TEST(JsonPathTest, LimitsTheValuesVisited) {
  const JsonPathOptions few{.maxVisited = 100'000};
  Value deep = 1;
  for (int i = 0; i < 999; ++i) deep = Value::Object{{"a", deep}};
  EXPECT_EQ(JsonPath::parse("{..a}").find(deep).size(), 999U);
  EXPECT_EQ(JsonPath::parse("{..}").find(deep).size(), 999U);
  EXPECT_THROW(JsonPath::parse("{..a..a..a..a}").find(deep, few), Error);
  EXPECT_THROW(JsonPath::parse("{..a..}").print(deep, few), Error);

  Value pairs = 1;
  std::string text = "{";
  for (int i = 0; i < 100; ++i) {
    pairs = Value::Array{pairs};
    text += "[0,0]";
  }
  EXPECT_THROW(JsonPath::parse(text + "}").find(pairs, few), Error);

  std::string ranges;
  for (int i = 0; i < 30; ++i) ranges += "{range [0,0]}";
  for (int i = 0; i < 30; ++i) ranges += "{end}";
  EXPECT_THROW(JsonPath::parse(ranges).print(pairs, few), Error);

  // Text counts too.
  const std::string large(100'000, 'x');
  const auto wordy = JsonPath::parse("{range [*]}" + large + "{end}");
  EXPECT_EQ(wordy.print(Value::Array{1, 2, 3}).size(), 300'000U);
  EXPECT_THROW(wordy.print(Value::Array{1, 2, 3}, {.maxVisited = 10'000}), Error);

  for (int i = 0; i < 2000; ++i) deep = Value::Array{deep};
  EXPECT_THROW(JsonPath::parse("{..}").find(deep), Error);
}

TEST(JsonPathTest, IsUsedByManyThreads) {
  const auto path = JsonPath::parse("{.items[?(@.kind=='None')].metadata.name}");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, copy = path] {
      for (int n = 0; n < 100; ++n) EXPECT_EQ(copy.print(nodes()), path.print(nodes()));
    });
  }
}

TEST(RelaxedJsonPathTest, AcceptsPathsWithAndWithoutBracesAndDot) {
  for (const char* text : {"x.y", ".x.y", "{x.y}", "{.x.y}"}) {
    EXPECT_EQ(relaxedJsonPath(text), "{.x.y}") << text;
    EXPECT_EQ(JsonPath::parseRelaxed(text).print(json(R"({"x":{"y":1}})")), "1");
  }
  EXPECT_EQ(relaxedJsonPath(""), "");
  EXPECT_EQ(relaxedJsonPath(".spec.containers[0].image"), "{.spec.containers[0].image}");
  EXPECT_EQ(relaxedJsonPath("."), "{..}");
  for (const char* text : {"{x", "x}", "{x}}", "{{x}}", "{}", "a{x}"}) {
    EXPECT_THROW(relaxedJsonPath(text), DecodeError) << text;
  }
}

}  // namespace
}  // namespace kube
