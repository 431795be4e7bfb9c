#include "kube/codec/protobuf.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kube/base/pool.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/internal/wire_testing.h"
#include "kube/codec/json.h"

namespace kube {
namespace {

using everykind::Big;
using everykind::Every;
using everykind::Random;
using everykind::Small;
using everykind::Widget;
using everykind::WidgetList;
using namespace wire;

// ---- Round trips ----

TEST(ProtobufTest, EveryKindInEveryShapeComesBackEqual) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const Every all = random.every(3, false);
    const std::string once = toProtobuf(all);
    const auto back = fromProtobuf<Every>(once);
    ASSERT_EQ(back, all) << toJson(all);
    ASSERT_EQ(toProtobuf(back), once);
    ASSERT_EQ(toJson(back), toJson(all));
  }
}

TEST(ProtobufTest, BoxedAndRecursivePartsComeBackEqual) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const Widget widget = random.widget(false);
    ASSERT_EQ(fromProtobuf<Widget>(toProtobuf(widget)), widget);
    ASSERT_EQ(fromJson<Widget>(toJson(fromProtobuf<Widget>(toProtobuf(widget)))), widget);
  }
}

TEST(ProtobufTest, ListsComeBackEqual) {
  Random random(3);
  WidgetList list;
  list.metadata.resourceVersion = "77";
  for (int i = 0; i < 50; ++i) list.items.push_back(random.widget(false));
  EXPECT_EQ(fromProtobuf<WidgetList>(toProtobuf(list)), list);
  EXPECT_EQ(fromProtobuf<WidgetList>(toProtobuf(WidgetList())), WidgetList());
}

TEST(ProtobufTest, WritesWhatUpstreamWrites) {
  // Upstream writes plain scalars even when zero, by ascending tag, and nothing for absent fields.
  const Small small{.name = "n", .number = -1, .words = {"a", ""}};
  EXPECT_EQ(toProtobuf(small), std::string(kProtobufMagic) + bytes(1, bytes(1, "") + bytes(2, "")) +
                                   bytes(2, bytes(1, "n") + number(2, ~std::uint64_t{0}) +
                                                bytes(3, "a") + bytes(3, "")) +
                                   bytes(3, "") + bytes(4, ""));
  EXPECT_EQ(openProtobuf(toProtobuf(Small())).raw, bytes(1, "") + number(2, 0));
  EXPECT_EQ(openProtobuf(toProtobuf(Widget())).apiVersion, "test.kubexx/v1");
  EXPECT_EQ(openProtobuf(toProtobuf(Widget())).kind, "Widget");
}

TEST(ProtobufTest, IntOrStringWritesNoNumberForAString) {
  Every all;
  all.optionalIntOrString = IntOrString("80");
  const std::string text = toProtobuf(all);
  EXPECT_NE(
      text.find(bytes(kOptional + kIntOrString, number(1, 1) + number(2, 0) + bytes(3, "80"))),
      std::string::npos);
  EXPECT_EQ(fromProtobuf<Every>(text).optionalIntOrString, IntOrString("80"));
}

TEST(ProtobufTest, NumbersKeepTheirSignAndExtremes) {
  Every all;
  all.plainInt32 = std::numeric_limits<std::int32_t>::min();
  all.optionalInt32 = -1;
  all.plainInt64 = std::numeric_limits<std::int64_t>::min();
  all.listInt32 = {0, -5, std::numeric_limits<std::int32_t>::max()};
  all.plainDouble = -0.0;
  EXPECT_EQ(fromProtobuf<Every>(toProtobuf(all)), all);
  // A negative int32 is ten bytes on the wire, its sign carried up.
  EXPECT_EQ(decoded<Every>(number(kInt32, static_cast<std::uint64_t>(-7))).plainInt32, -7);
  EXPECT_EQ(decoded<Every>(number(kInt32, 0xFFFFFFF9)).plainInt32, -7);
  EXPECT_TRUE(decoded<Every>(number(kBool, 1ULL << 40)).plainBool);
}

TEST(ProtobufTest, TimesAreReadHoweverTheyAreWritten) {
  const auto timeIn = [](const std::string& raw) {
    return decoded<Every>(bytes(kTime, raw)).plainTime;
  };
  // Numbers of one to ten bytes.
  for (int bits = 0; bits < 64; ++bits) {
    for (const std::uint64_t value : {(1ULL << bits) - 1, 1ULL << bits, (1ULL << bits) + 1}) {
      const Time time = Time::fromUnix(static_cast<std::int64_t>(value));
      EXPECT_EQ(timeIn(number(1, value)), time) << value;
      EXPECT_EQ(timeIn(number(1, value) + number(2, 0)), time) << value;
      EXPECT_EQ(timeIn(number(1, value) + number(2, 5)), time) << value;
      EXPECT_EQ(timeIn(number(2, 0) + number(1, value)), time) << value;
    }
  }
  // A number with more bytes than needed, and the last of two values.
  EXPECT_EQ(timeIn(key(1, 0) + std::string("\x81\x80\x80\x80\x00", 5) + number(2, 0)),
            Time::fromUnix(1));
  EXPECT_EQ(timeIn(number(1, 1'700'000'000) + number(1, 7)), Time::fromUnix(7));
  EXPECT_EQ(timeIn(key(1, 0) + "\x81\x80\x80\x80\x80\x10"), Time::fromUnix(1 + (16LL << 35)));
  // As long as the usual form, but with a longer number and then 0 as a key.
  EXPECT_NE(error<Every>(bytes(kTime, key(1, 0) + std::string("\x81\x80\x80\x80\x80\x10\x00", 7))),
            "");
}

TEST(ProtobufTest, ZeroTimeIsNot1970) {
  const auto zero = decoded<Every>(bytes(kTime, "") + bytes(kMicroTime, ""));
  EXPECT_TRUE(zero.plainTime.isZero() && zero.plainMicroTime.isZero());
  const auto epoch =
      decoded<Every>(bytes(kTime, number(1, 0) + number(2, 0)) + bytes(kMicroTime, number(1, 0)));
  EXPECT_EQ(epoch.plainTime, Time::fromUnix(0));
  EXPECT_EQ(epoch.plainMicroTime, MicroTime::fromUnix(0));
  EXPECT_FALSE(epoch.plainTime.isZero());
  const auto before = decoded<Every>(bytes(kTime, number(1, static_cast<std::uint64_t>(-5))));
  EXPECT_EQ(before.plainTime, Time::fromUnix(-5));

  Every all;
  all.optionalTime = Time();
  all.listTime = {Time(), Time::fromUnix(0), Time::fromUnix(-62135596801)};
  EXPECT_EQ(fromProtobuf<Every>(toProtobuf(all)), all);
}

TEST(ProtobufTest, EmptyMessagesAndAbsentOnesDiffer) {
  EXPECT_FALSE(decoded<Every>("").optionalMessage.has_value());
  EXPECT_TRUE(decoded<Every>(bytes(kOptional + kMessage, "")).optionalMessage.has_value());
  EXPECT_FALSE(decoded<Every>("").optionalInt32.has_value());
  EXPECT_EQ(decoded<Every>(number(kOptional + kInt32, 0)).optionalInt32, 0);
  EXPECT_EQ(decoded<Every>(bytes(kOptional + kString, "")).optionalString, "");
  EXPECT_TRUE(decoded<Every>(bytes(kOptional + kStrings, "")).optionalStrings.has_value());
  EXPECT_EQ(decoded<Every>(bytes(kList + kMessage, "") + bytes(kList + kMessage, "")).listMessage,
            (List<Small>{Small(), Small()}));
}

// ---- The envelope ----

TEST(ProtobufTest, BodiesStartWithTheMagic) {
  EXPECT_TRUE(isProtobuf(toProtobuf(Widget())));
  for (const std::string& text : {std::string(), std::string("k8s"), std::string("k8s\1", 4),
                                  std::string("{\"kind\":\"Widget\"}"), bytes(2, "")}) {
    EXPECT_FALSE(isProtobuf(text));
    const std::string wanted =
        "protobuf: offset 0: not Kubernetes protobuf: the body does not start with k8s\\0";
    EXPECT_EQ(errorOf([&] { fromProtobuf<Widget>(text); }), wanted);
    EXPECT_EQ(errorOf([&] { fromProtobuf<WidgetList>(text); }), wanted);
  }
  // Neither decoder takes the other's format.
  EXPECT_NE(errorOf([] { fromJson<WidgetList>(toProtobuf(WidgetList())); }), "");
  EXPECT_NE(errorOf([] { fromProtobuf<WidgetList>(toJson(WidgetList())); }), "");
}

TEST(ProtobufTest, AnotherKindIsAnError) {
  const auto meta = [](std::string_view apiVersion, std::string_view kind) {
    return std::string(kProtobufMagic) + bytes(1, bytes(1, apiVersion) + bytes(2, kind)) +
           bytes(2, "");
  };
  EXPECT_EQ(errorOf([&] { fromProtobuf<Widget>(meta("v1", "Pod")); }),
            "protobuf: offset 4: expected test.kubexx/v1 Widget, found v1 Pod");
  EXPECT_NE(errorOf([&] { fromProtobuf<Widget>(meta("v2", "Widget")); }), "");
  EXPECT_EQ(errorOf([&] { fromProtobuf<WidgetList>(meta("v1", "PodList")); }),
            "protobuf: expected test.kubexx/v1 WidgetList, found v1 PodList");
  EXPECT_EQ(fromProtobuf<Widget>(meta("", "")), Widget());
  EXPECT_EQ(fromProtobuf<Widget>(meta("test.kubexx/v1", "Widget")), Widget());
  EXPECT_EQ(fromProtobuf<metav1::Status>(meta("any/v9", "Status")), metav1::Status());
}

TEST(ProtobufTest, EncodedContentIsRefused) {
  const std::string gzip = body("") + bytes(3, "gzip");
  EXPECT_EQ(errorOf([&] { fromProtobuf<Widget>(gzip); }),
            "protobuf: offset 4: content encoding \"gzip\" is not supported");
  EXPECT_NE(errorOf([&] { fromProtobuf<WidgetList>(gzip); }), "");
}

TEST(ProtobufTest, AnEnvelopeHoldsAnObject) {
  EXPECT_EQ(errorOf([] { fromProtobuf<Widget>(kProtobufMagic); }),
            "protobuf: offset 4: the envelope holds no object");
  EXPECT_NE(errorOf([] { fromProtobuf<WidgetList>(kProtobufMagic); }), "");
}

TEST(ProtobufTest, TypesWithoutAWireFormHaveNone) {
  EXPECT_THROW(toProtobuf(metav1::Table()), Error);
  EXPECT_THROW(fromProtobuf<metav1::Table>(body("")), Error);
  Every all;
  all.plainValue = 1;  // not in the wire table, so it is left out
  EXPECT_EQ(fromProtobuf<Every>(toProtobuf(all)), Every());
}

// ---- Fields in unusual order and number ----

TEST(ProtobufTest, UnknownFieldsOfEveryWireTypeAreSkipped) {
  const std::string unknown = number(1000, 7) + key(1001, 1) + std::string(8, 'x') +
                              bytes(1002, "anything") + key(1003, 5) + std::string(4, 'x') +
                              number(536870911, 1);
  const Small small{.name = "n", .number = 5, .words = {"w"}};
  const std::string name = bytes(1, "n"), five = number(2, 5), words = bytes(3, "w");
  EXPECT_EQ(decoded<Small>(unknown + name + unknown + five + unknown + words + unknown), small);
  const auto all = decoded<Every>(
      bytes(kTime, unknown + number(1, 9) + unknown) + bytes(kQuantity, unknown + bytes(1, "5m")) +
      bytes(kStrings, unknown + bytes(1, "s") + bytes(3, "not this") + unknown) +
      bytes(kMap + kString, unknown + bytes(1, "k") + unknown + bytes(2, "v") + unknown));
  EXPECT_EQ(all.plainTime, Time::fromUnix(9));
  EXPECT_EQ(all.plainQuantity.text(), "5m");
  EXPECT_EQ(all.plainStrings, Strings{"s"});
  EXPECT_EQ(all.mapString, (Map<String>{{"k", "v"}}));
}

TEST(ProtobufTest, TheLastOfScalarsCountsAndMessagesMerge) {
  EXPECT_EQ(
      decoded<Small>(number(2, 1) + bytes(1, "a") + number(2, 2) + bytes(1, "b") + bytes(1, "")),
      (Small{.name = "", .number = 2, .words = {}}));
  for (const std::uint64_t tag : {kMessage, kOptional + kMessage}) {
    const auto all =
        decoded<Every>(bytes(tag, bytes(1, "first") + bytes(3, "w1")) + bytes(kString, "between") +
                       bytes(tag, number(2, 7) + bytes(3, "w2") + bytes(3, "w3")));
    const Small& merged = tag == kMessage ? all.plainMessage : *all.optionalMessage;
    EXPECT_EQ(merged, (Small{.name = "first", .number = 7, .words = {"w1", "w2", "w3"}}));
  }
}

TEST(ProtobufTest, MergingDoesNotTouchWhatAPoolHolds) {
  Pool pool;
  const std::string part = bytes(kOptional + kMessage, bytes(1, "a") + bytes(3, "w"));
  const std::string twice = body(part + bytes(kOptional + kMessage, bytes(3, "x") + number(2, 1)));
  std::vector<Every> kept;
  for (int i = 0; i < 5; ++i) {
    kept.push_back(fromProtobuf<Every>(body(part), {.pool = &pool}));
    kept.push_back(fromProtobuf<Every>(twice, {.pool = &pool}));
  }
  for (std::size_t i = 0; i < kept.size(); i += 2) {
    EXPECT_EQ(*kept[i].optionalMessage, (Small{.name = "a", .number = 0, .words = {"w"}}));
    EXPECT_EQ(*kept[i + 1].optionalMessage, (Small{.name = "a", .number = 1, .words = {"w", "x"}}));
  }
}

/// Runs of `run` fields of `one` and of `two`, alternating.
std::string mixed(const std::vector<std::string>& one, const std::vector<std::string>& two,
                  std::size_t run) {
  std::string result;
  for (std::size_t i = 0; i < one.size() || i < two.size(); i += run) {
    for (std::size_t k = i; k < std::min(i + run, one.size()); ++k) result += one[k];
    for (std::size_t k = i; k < std::min(i + run, two.size()); ++k) result += two[k];
  }
  return result;
}

TEST(ProtobufTest, RepeatedFieldsInSeveralRunsEqualOneRun) {
  // Every kind of list and map, taken from random objects field by field.
  Random random(4);
  for (int round = 0; round < 60; ++round) {
    const Every all = random.every(2, false);
    const std::string raw(openProtobuf(toProtobuf(all)).raw);
    std::vector<std::string> fields;
    for (std::size_t at = 0; at < raw.size();) {
      const auto take = [&] {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
          const auto byte = static_cast<unsigned char>(raw[at++]);
          value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
          if (byte < 0x80) return value;
        }
      };
      const std::size_t start = at;
      const std::uint64_t type = take() & 7;
      if (type == 0) {
        take();
      } else {
        const std::uint64_t size = type == 1 ? 8 : take();
        at += size;
      }
      fields.push_back(raw.substr(start, at - start));
    }
    std::vector<std::string> even, odd;
    for (std::size_t i = 0; i < fields.size(); ++i) (i % 2 == 0 ? even : odd).push_back(fields[i]);
    std::string apart;  // all even fields, then all odd ones, which splits most lists in two
    for (const auto& field : even) apart += field;
    for (const auto& field : odd) apart += field;
    Pool pool;
    const auto plain = fromProtobuf<Every>(body(apart));
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(fromProtobuf<Every>(body(apart), {.pool = &pool}), plain);
    }
    ASSERT_EQ(plain.mapString, all.mapString);
    ASSERT_EQ(plain.mapMessage, all.mapMessage);
    ASSERT_EQ(plain.mapIntOrString, all.mapIntOrString);
    ASSERT_EQ(plain.listMessage.size(), all.listMessage.size());
    ASSERT_EQ(plain.listRaw.size(), all.listRaw.size());
    ASSERT_EQ(plain.plainMessage, all.plainMessage);
  }
}

TEST(ProtobufTest, RunsKeepTheirOrder) {
  std::vector<std::string> words, names;
  Small wanted;
  for (int i = 0; i < 20; ++i) {
    words.push_back(bytes(3, "w" + std::to_string(i)));
    wanted.words.push_back("w" + std::to_string(i));
    names.push_back(bytes(1, "n" + std::to_string(i)));
  }
  wanted.name = "n19";
  for (const std::size_t run : {1, 2, 3, 7, 20}) {
    EXPECT_EQ(decoded<Small>(mixed(words, names, run)), wanted) << run;
  }
  std::vector<std::string> parts, named;
  Big big;
  for (int i = 0; i < 10; ++i) {
    Big part;
    part.name = "b" + std::to_string(i);
    big.parts.push_back(part);
    big.named.insert_or_assign("k" + std::to_string(i), part);
    parts.push_back(bytes(4, bytes(1, part.name)));
    named.push_back(bytes(5, bytes(1, "k" + std::to_string(i)) + bytes(2, bytes(1, part.name))));
  }
  Pool pool;
  for (const std::size_t run : {1, 2, 3, 10}) {
    EXPECT_EQ(decoded<Big>(mixed(parts, named, run)), big) << run;
    EXPECT_EQ(fromProtobuf<Big>(body(mixed(parts, named, run)), {.pool = &pool}), big) << run;
  }
}

TEST(ProtobufTest, PackedNumbersAreRead) {
  const std::string packed = varint(1) + varint(300) + varint(static_cast<std::uint64_t>(-1));
  const List<std::int32_t> wanted{1, 300, -1};
  EXPECT_EQ(decoded<Every>(bytes(kList + kInt32, packed)).listInt32, wanted);
  EXPECT_EQ(decoded<Every>(number(kList + kInt32, 1) + bytes(kList + kInt32, packed.substr(1)) +
                           bytes(kList + kInt32, ""))
                .listInt32,
            wanted);
  EXPECT_EQ(decoded<Every>(bytes(kList + kInt32, "") + bytes(kList + kInt32, packed)).listInt32,
            wanted);
  EXPECT_EQ(decoded<Every>(bytes(kList + kBool, std::string("\1\0\1", 3))).listBool,
            (List<bool>{true, false, true}));
  EXPECT_EQ(decoded<Every>(bytes(kList + kDouble, std::string(16, '\0'))).listDouble,
            (List<double>{0, 0}));
  EXPECT_NE(error<Every>(bytes(kList + kDouble, std::string(15, '\0'))), "");
  EXPECT_NE(error<Every>(bytes(kList + kInt32, "\x80")), "");
  EXPECT_NE(error<Every>(bytes(kList + kInt32, "\x01\x80")), "");
  EXPECT_NE(error<Every>(bytes(kList + kInt64, std::string(11, '\x81') + "\x01")), "");
}

TEST(ProtobufTest, MapEntriesMayLackKeyOrValue) {
  const auto all =
      decoded<Every>(bytes(kMap + kString, bytes(2, "no key")) +
                     bytes(kMap + kInt32, bytes(1, "no value")) + bytes(kMap + kMessage, "") +
                     bytes(kMap + kString, bytes(2, "first") + bytes(1, "k") + bytes(2, "second")));
  EXPECT_EQ(all.mapString, (Map<String>{{"", "no key"}, {"k", "second"}}));
  EXPECT_EQ(all.mapInt32, (Map<std::int32_t>{{"no value", 0}}));
  EXPECT_EQ(all.mapMessage.size(), 1u);
}

TEST(ProtobufTest, TheLastOfDuplicateKeysCounts) {
  const auto entry = [](const char* name, const char* value) {
    return bytes(kMap + kString, bytes(1, name) + bytes(2, value));
  };
  const Map<String> wanted{{"a", "4"}, {"b", "5"}, {"c", "2"}};
  const std::vector<std::string> entries = {entry("b", "1"), entry("c", "2"), entry("a", "3"),
                                            entry("a", "4"), entry("b", "5")};
  const std::vector<std::string> others(5, bytes(kString, "x"));
  for (const std::size_t run : {1, 2, 5}) {
    EXPECT_EQ(decoded<Every>(mixed(entries, others, run)).mapString, wanted) << run;
  }
}

}  // namespace
}  // namespace kube
