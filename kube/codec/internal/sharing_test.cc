// Equal parts of different objects share memory, and a pool never changes the result of decoding.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kube/base/pool.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/internal/wire_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"

namespace kube {
namespace {

using everykind::Big;
using everykind::Every;
using everykind::Random;
using everykind::Tree;
using everykind::Widget;
using everykind::WidgetList;

/// Two objects that are equal except for their names.
WidgetList twins() {
  Widget widget;
  widget.metadata.labels = {{"app", "web"}, {"tier", "front"}};
  widget.metadata.finalizers = {"one", "two"};
  widget.metadata.managedFields.resize(1);
  widget.metadata.managedFields[0].fieldsV1.raw = R"({"f:metadata":{"f:labels":{}}})";
  widget.spec->plainString = "the same";
  widget.spec->plainQuantity = "100m";
  widget.spec->plainIntOrString = "http";
  widget.spec->plainStrings = {"a", "b"};
  widget.spec->mapMessage = {{"k", {.name = "inner", .number = 1, .words = {"w"}}}};
  widget.spec->listMessage = {{.name = "first", .number = 0, .words = {"x", "y"}}};
  widget.spec->optionalMessage = everykind::Small{.name = "shared", .number = 2, .words = {}};
  widget.bigs.resize(2);
  widget.bigs[0].name = "big";
  widget.bigs[0].first.labels = {{"in", "box"}};
  widget.bigs[1].name = "other";
  widget.tree->name = "root";
  widget.tree->list.resize(2);

  WidgetList list;
  list.items = {widget, widget};
  list.items[0].metadata.name = "one";
  list.items[1].metadata.name = "two";
  return list;
}

void expectShared(const Widget& a, const Widget& b) {
  EXPECT_TRUE(a.metadata.labels.sharesWith(b.metadata.labels));
  EXPECT_TRUE(a.metadata.finalizers.sharesWith(b.metadata.finalizers));
  EXPECT_TRUE(a.metadata.managedFields.sharesWith(b.metadata.managedFields));
  EXPECT_TRUE(a.spec.sharesWith(b.spec));
  EXPECT_TRUE(a.bigs.sharesWith(b.bigs));
  EXPECT_TRUE(a.tree.sharesWith(b.tree));
}

TEST(SharingTest, EqualPartsOfAListsItemsAreTheSameMemory) {
  const WidgetList list = twins();
  const auto json = fromJson<WidgetList>(toJson(list));
  const auto pretty = fromJson<WidgetList>(toJson(list, 2));
  const auto protobuf = fromProtobuf<WidgetList>(toProtobuf(list));
  for (const WidgetList* read : {&json, &pretty, &protobuf}) {
    EXPECT_EQ(*read, list);
    expectShared(read->items[0], read->items[1]);
    EXPECT_FALSE(read->items[0].metadata.name.sharesWith(read->items[1].metadata.name));
  }
}

TEST(SharingTest, PartsAreSharedInsideOfPartsThatDiffer) {
  WidgetList list = twins();
  Every& spec = list.items[1].spec.write();
  spec.plainInt32 = 5;
  list.items[1].bigs[0].second.name = "differs";
  list.items[1].tree->name = "differs";
  for (const WidgetList& read :
       {fromJson<WidgetList>(toJson(list)), fromProtobuf<WidgetList>(toProtobuf(list))}) {
    ASSERT_EQ(read, list);
    const Widget& a = read.items[0];
    const Widget& b = read.items[1];
    EXPECT_FALSE(a.spec.sharesWith(b.spec));
    EXPECT_TRUE(a.spec->plainString.sharesWith(b.spec->plainString));
    EXPECT_TRUE(a.spec->plainQuantity.text().sharesWith(b.spec->plainQuantity.text()));
    EXPECT_TRUE(
        a.spec->plainIntOrString.stringValue().sharesWith(b.spec->plainIntOrString.stringValue()));
    EXPECT_TRUE(a.spec->mapMessage.sharesWith(b.spec->mapMessage));
    EXPECT_TRUE(a.spec->listMessage.sharesWith(b.spec->listMessage));
    EXPECT_TRUE(a.spec->optionalMessage.sharesWith(b.spec->optionalMessage));
    // The list differs, but the boxes of its equal elements do not.
    EXPECT_FALSE(a.bigs.sharesWith(b.bigs));
    EXPECT_NE(&a.bigs[0], &b.bigs[0]);
    EXPECT_EQ(&a.bigs[1], &b.bigs[1]);
    EXPECT_TRUE(a.bigs[0].first.labels.sharesWith(b.bigs[0].first.labels));
    EXPECT_TRUE(a.tree->list.sharesWith(b.tree->list));
  }
}

TEST(SharingTest, ObjectsDecodedApartShareThroughAPool) {
  Pool pool;
  const WidgetList list = twins();
  const auto a = fromJson<Widget>(toJson(list.items[0]), {.pool = &pool});
  const auto b = fromJson<Widget>(toJson(list.items[1]), {.pool = &pool});
  expectShared(a, b);
  const auto c = fromProtobuf<Widget>(toProtobuf(list.items[0]), {.pool = &pool});
  const auto d = fromProtobuf<Widget>(toProtobuf(list.items[1]), {.pool = &pool});
  expectShared(c, d);
  EXPECT_TRUE(a.spec->plainString.sharesWith(c.spec->plainString));
  const auto alone = fromJson<Widget>(toJson(list.items[0]));
  EXPECT_FALSE(alone.spec.sharesWith(a.spec));
}

TEST(SharingTest, ListsShareOnlyIfAskedTo) {
  const WidgetList list = twins();
  for (const WidgetList& read :
       {fromJson<WidgetList>(toJson(list), {.shareItems = false}),
        fromProtobuf<WidgetList>(toProtobuf(list), {.shareItems = false})}) {
    EXPECT_EQ(read, list);
    EXPECT_FALSE(read.items[0].spec.sharesWith(read.items[1].spec));
  }
}

TEST(SharingTest, WritingToOneLeavesTheOthersAlone) {
  const WidgetList list = twins();
  auto read = fromProtobuf<WidgetList>(toProtobuf(list));
  read.items[0].metadata.labels["app"] = "changed";
  read.items[0].spec->listMessage[0].name = "changed";
  read.items[0].bigs[1].name = "changed";
  EXPECT_EQ(read.items[1], list.items[1]);
}

TEST(SharingTest, ValuesShare) {
  Pool pool;
  const std::string text = R"({"spec":{"a":[1,{"b":"text"}],"c":{"d":"e"}},"name":"%"})";
  const Value a = parseJson(text, {.pool = &pool});
  const Value b = parseJson(text, {.pool = &pool});
  EXPECT_TRUE(a["spec"].asObject().sharesWith(b["spec"].asObject()));
  EXPECT_TRUE(a["name"].asString().sharesWith(b["name"].asString()));
}

// ---- A pool changes nothing but the memory ----

template <class Decode>
void expectPoolChangesNothing(const std::vector<std::string>& texts, unsigned seed, Decode decode) {
  using Object = decltype(decode(texts[0], nullptr));
  std::vector<Object> wanted;
  for (const std::string& text : texts) wanted.push_back(decode(text, nullptr));

  Pool pool;
  std::mt19937 random(seed);
  std::vector<std::size_t> order(texts.size());
  std::vector<Object> kept(texts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int round = 0; round < 4; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      kept[i] = decode(texts[i], &pool);
      ASSERT_EQ(kept[i], wanted[i]) << texts[i];
      if (random() % 50 == 0) pool.sweep();
      if (random() % 3 == 0) kept[random() % kept.size()] = Object();  // some are dropped
    }
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(kept[i] == Object() || kept[i] == wanted[i]);
  }
}

TEST(SharingTest, JsonObjectsDoNotDependOnThePool) {
  Random random(1);
  std::vector<std::string> texts;
  for (int i = 0; i < 400; ++i) texts.push_back(toJson(random.widget(true), i % 3));
  expectPoolChangesNothing(texts, 1, [](const std::string& text, Pool* pool) {
    return fromJson<Widget>(text, {.pool = pool});
  });
}

TEST(SharingTest, ProtobufObjectsDoNotDependOnThePool) {
  Random random(2);
  std::vector<std::string> texts;
  for (int i = 0; i < 400; ++i) texts.push_back(toProtobuf(random.widget(false)));
  expectPoolChangesNothing(texts, 2, [](const std::string& text, Pool* pool) {
    return fromProtobuf<Widget>(text, {.pool = pool});
  });
}

TEST(SharingTest, BothFormatsThroughOnePool) {
  Random random(3);
  std::vector<std::string> texts;
  for (int i = 0; i < 400; ++i) {
    const Widget widget = random.widget(false);
    texts.push_back(i % 2 == 0 ? toJson(widget) : toProtobuf(widget));
  }
  expectPoolChangesNothing(texts, 3, [](const std::string& text, Pool* pool) {
    return isProtobuf(text) ? fromProtobuf<Widget>(text, {.pool = pool})
                            : fromJson<Widget>(text, {.pool = pool});
  });
}

TEST(SharingTest, ValuesDoNotDependOnThePool) {
  Random random(4);
  std::vector<std::string> texts;
  for (int i = 0; i < 2000; ++i) texts.push_back(toJson(random.value(4)));
  expectPoolChangesNothing(texts, 4, [](const std::string& text, Pool* pool) {
    return parseJson(text, {.pool = pool});
  });
}

// A key may hold an object first and a string next. Neither must be taken for the other.
TEST(SharingTest, ValuesOfSeveralTypesUnderOneKey) {
  Pool pool;
  std::vector<Value> kept;
  const char* const texts[] = {R"({"x":{"a":"bb"}})", R"({"x":"str1"})",
                               R"({"x":["str1"]})",   R"({"x":[["y"],"y",{"y":"y"}]})",
                               R"({"x":"0"})",        R"({"x":1})"};
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    const char* text = texts[random() % std::size(texts)];
    kept.push_back(parseJson(text, {.pool = &pool}));
    ASSERT_EQ(toJson(kept.back()), text);
  }
  // Texts of one character, and maps of one entry, whose memory may start with any byte.
  for (int i = 0; i < 5000; ++i) {
    const std::string object = R"({"k":{"n)" + std::to_string(i % 701) + R"(":null}})";
    for (int repeat = 0; repeat < 2; ++repeat) {
      kept.push_back(parseJson(object, {.pool = &pool}));
      ASSERT_EQ(toJson(kept.back()), object);
    }
    const std::string text = std::string(R"({"k":")") + static_cast<char>('0' + i % 10) + "\"}";
    const Value digit = parseJson(text, {.pool = &pool});
    ASSERT_EQ(toJson(digit), text);
    const void* entry = &*std::as_const(kept.back())["k"].asObject().begin();
    ASSERT_NE(static_cast<const void*>(digit["k"].asString().data()), entry);
  }
}

TEST(SharingTest, EqualBytesOfDifferentTypesStayApart) {
  // An empty object or message is valid for every type, and so is one with a name.
  Pool pool;
  for (int i = 0; i < 50; ++i) {
    const auto every = fromJson<Every>(
        R"({"optionalMessage":{"name":"n"},"listString":["n"],"listMessage":[{"name":"n"}],)"
        R"("mapString":{"name":"n"},"plainValue":{"name":"n"},"plainStrings":["n"],)"
        R"("plainRaw":{"name":"n"},"mapMessage":{"name":{"name":"n"}}})",
        {.pool = &pool});
    const auto tree = fromJson<Tree>(
        R"({"next":{"name":"n"},"list":[{"name":"n"}],"map":{"name":{"name":"n"}},"raw":["n"]})",
        {.pool = &pool});
    const auto big =
        fromJson<Big>(R"({"parts":[{"name":"n"}],"named":{"name":{"name":"n"}}})", {.pool = &pool});
    ASSERT_EQ(every.listMessage[0].name, "n");
    ASSERT_EQ(every.mapMessage["name"].name, "n");
    ASSERT_EQ(every.mapString["name"], "n");
    ASSERT_EQ(every.plainRaw.raw, R"({"name":"n"})");
    ASSERT_EQ(every.plainStrings, Strings{"n"});
    ASSERT_EQ(tree.next->name, "n");
    ASSERT_EQ(tree.list[0].name, "n");
    ASSERT_EQ(big.parts[0].name, "n");
    ASSERT_EQ(big.named["name"].name, "n");

    using namespace wire;
    const std::string name = bytes(1, "n");
    const auto wired = fromProtobuf<Tree>(
        body(bytes(2, name) + bytes(3, name) + bytes(4, name) + bytes(5, name)), {.pool = &pool});
    ASSERT_EQ(wired.next->name, "n");
    ASSERT_EQ(wired.list[0].name, "n");
    ASSERT_TRUE(wired.map.contains("n"));
    ASSERT_EQ(wired.raw.raw, "n");
  }
}

// A pool that is swept keeps nothing alive that is not held elsewhere.
TEST(SharingTest, SweepingForgetsPartsThatAreNotHeld) {
  Pool pool;
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    fromJson<Widget>(toJson(random.widget(true)), {.pool = &pool});
    fromProtobuf<Widget>(toProtobuf(random.widget(false)), {.pool = &pool});
  }
  EXPECT_GT(pool.stats().nodes, 0u);
  for (int i = 0; i < 16; ++i) pool.sweep();  // a part is released one sweep after its whole
  EXPECT_EQ(pool.stats().nodes, 0u);
  EXPECT_EQ(pool.stats().strings, 0u);
}

}  // namespace
}  // namespace kube
