// Errors of protobuf decoding for malformed and hostile bytes.
#include <gtest/gtest.h>

#include <string>

#include "kube/base/internal/sanitizer.h"
#include "kube/base/pool.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/internal/wire_testing.h"
#include "kube/codec/protobuf.h"

namespace kube {
namespace {

using everykind::Big;
using everykind::Every;
using everykind::Random;
using everykind::Small;
using everykind::Tree;
using everykind::Widget;
using namespace wire;

TEST(ProtobufErrorTest, BytesCutShortAnywhereNeverPassForTheWhole) {
  Random random(6);
  Widget widget;
  do {
    widget = random.widget(false);
  } while (toProtobuf(widget).size() < 1000);
  const std::string text = toProtobuf(widget);
  // The two empty fields behind the object may be missing.
  const std::size_t end = text.size() - 4;
  Pool pool;
  for (std::size_t size = 0; size < end; ++size) {
    const std::string part(text, 0, size);  // a separate copy, so that overruns are detected
    ASSERT_THROW(fromProtobuf<Widget>(part), DecodeError) << size;
    ASSERT_THROW(fromProtobuf<Widget>(part, {.pool = &pool}), DecodeError) << size;
    // Without an envelope, a cut between two fields cannot be detected; every other cut must be.
    try {
      decoded<Widget>(text.substr(4, size));
    } catch (const DecodeError&) {
    }
  }
  EXPECT_EQ(fromProtobuf<Widget>(text.substr(0, end)), widget);
}

TEST(ProtobufErrorTest, MalformedFieldsAreErrors) {
  const std::string past = std::string(10, '\x80');
  EXPECT_EQ(error<Small>(key(1, 2) + varint(5) + "abc"),
            "protobuf: offset 8: name: length past the end");
  EXPECT_EQ(error<Small>(key(1, 2) + varint(1ULL << 63)),
            "protobuf: offset 17: name: length past the end");
  EXPECT_EQ(error<Small>(bytes(1, "n") + key(1, 2) + varint(~0ULL)),
            "protobuf: offset 20: name: length past the end");
  EXPECT_EQ(error<Small>(key(3, 2) + varint(~0ULL)),
            "protobuf: offset 17: words: length past the end");
  EXPECT_EQ(error<Small>(key(1000, 2) + varint(1ULL << 32)),
            "protobuf: offset 13: length past the end");
  EXPECT_EQ(error<Small>(key(1000, 3)), "protobuf: offset 8: bad wire type 3");
  EXPECT_EQ(error<Small>(key(1000, 4)), "protobuf: offset 8: bad wire type 4");
  EXPECT_EQ(error<Small>(key(1000, 6)), "protobuf: offset 8: bad wire type 6");
  EXPECT_EQ(error<Small>(key(1000, 7)), "protobuf: offset 8: bad wire type 7");
  EXPECT_EQ(error<Small>(key(0, 0) + "x"), "protobuf: offset 7: bad field number");
  EXPECT_EQ(error<Small>(key(0, 2) + "x"), "protobuf: offset 7: bad field number");
  EXPECT_EQ(error<Small>(key(1ULL << 29, 0) + "x"), "protobuf: offset 11: bad field number");
  EXPECT_EQ(error<Small>(key(2, 0) + past + "\1"),
            "protobuf: offset 7: number: a number is too long");
  EXPECT_EQ(error<Small>(past + "\1"), "protobuf: offset 6: a number is too long");
  EXPECT_EQ(error<Small>(key(2, 0)), "protobuf: offset 7: number: unexpected end inside a number");
  EXPECT_EQ(error<Small>(key(2, 0) + "\x80"),
            "protobuf: offset 7: number: unexpected end inside a number");
  EXPECT_EQ(error<Small>(key(1000, 1) + "1234567"), "protobuf: offset 8: unexpected end");
  EXPECT_EQ(error<Small>(key(1000, 5) + "123"), "protobuf: offset 8: unexpected end");
  EXPECT_EQ(error<Every>(key(kDouble, 1) + "1234567"),
            "protobuf: offset 7: plainDouble: unexpected end inside a number");
  EXPECT_EQ(error<Every>(bytes(kQuantity, bytes(1, "lots"))).substr(0, 40),
            "protobuf: offset 14: plainQuantity: quan");
}

TEST(ProtobufErrorTest, EveryKindRefusesOtherWireTypes) {
  const std::string wrong[] = {key(0, 0) + "\1", key(0, 1) + "12345678", key(0, 2) + "\1x",
                               key(0, 5) + "1234"};
  for (const FieldInfo& field : TypeOf<Every>::info.fields) {
    if (field.kind == FieldKind::Value) continue;
    const unsigned right = field.shape == Shape::Map ? 2
                           : field.kind == FieldKind::Bool || field.kind == FieldKind::Int32 ||
                                   field.kind == FieldKind::Int64
                               ? 0
                           : field.kind == FieldKind::Double ? 1
                                                             : 2;
    for (const unsigned type : {0U, 1U, 2U, 5U}) {
      if (type == right || (type == 2 && field.shape == Shape::List)) continue;
      const std::string& value = wrong[type == 5 ? 3 : type];
      EXPECT_NE(error<Every>(key(field.tag, type) + value.substr(1)), "") << field.name << type;
    }
  }
  EXPECT_NE(error<Big>(number(4, 1)), "");
  EXPECT_NE(error<Big>(number(5, 1)), "");
  EXPECT_NE(error<Every>(bytes(kMap + kString, bytes(1, "k") + number(2, 1))), "");
}

TEST(ProtobufErrorTest, StringsAreUtf8AndBytesNeedNotBe) {
  const std::string bad[] = {"\xFF",         "abcdefgh\x80", "\xC0\xAF",
                             "\xED\xA0\x80", "abc\xE2\x82",  "\xF5\x80\x80\x80"};
  Pool pool;
  for (const std::string& text : bad) {
    EXPECT_EQ(fromProtobuf<Every>(body(bytes(kBytes, text))).plainBytes.view(), text);
    const std::string raw = bytes(kRaw, bytes(1, text));
    EXPECT_EQ(fromProtobuf<Every>(body(raw), {.pool = &pool}).plainRaw.raw.view(), text);
    for (const std::string& field :
         {bytes(kString, text), bytes(kList + kString, text), bytes(kOptional + kString, text),
          bytes(kMap + kString, bytes(1, text)), bytes(kMap + kString, bytes(2, text)),
          bytes(kStrings, bytes(1, text)), bytes(kIntOrString, number(1, 1) + bytes(3, text)),
          bytes(kMessage, bytes(1, text))}) {
      EXPECT_NE(error<Every>(field).find("a string is not valid UTF-8"), std::string::npos);
      // The same error even if the pool has seen those bytes in a field that takes any bytes.
      EXPECT_THROW(fromProtobuf<Every>(body(field), {.pool = &pool}), DecodeError);
    }
  }
  EXPECT_EQ(decoded<Every>(bytes(kString, "\xF0\x9F\x98\x80 \xE2\x82\xAC")).plainString,
            "\xF0\x9F\x98\x80 \xE2\x82\xAC");
}

TEST(ProtobufErrorTest, DeepNestingIsRefusedNotFollowed) {
  for (const std::uint64_t tag : {2, 3, 4}) {
    std::string raw;
    for (int depth = 0; depth < 2'000; ++depth) raw = bytes(tag, tag == 4 ? bytes(2, raw) : raw);
    EXPECT_NE(error<Tree>(raw).find("nested too deeply"), std::string::npos) << tag;
    Pool pool;
    EXPECT_THROW(fromProtobuf<Tree>(body(raw), {.pool = &pool}), DecodeError);
  }
  for (const std::uint64_t tag : {4, 5}) {
    std::string raw;
    for (int depth = 0; depth < 2'000; ++depth) raw = bytes(tag, tag == 5 ? bytes(2, raw) : raw);
    EXPECT_NE(error<Big>(raw).find("nested too deeply"), std::string::npos) << tag;
  }
  std::string raw;
  for (int depth = 0; depth < 900; ++depth) raw = bytes(2, raw);
  const auto tree = decoded<Tree>(raw);
  EXPECT_EQ(fromProtobuf<Tree>(toProtobuf(tree)), tree);
}

// ---- Hostile, but cheap to send ----

// The next three tests take milliseconds. If decoding is not linear, they take hours, and ctest
// ends them.

TEST(ProtobufErrorTest, AlternatingTagsTakeLinearTime) {
  constexpr unsigned kTimes = detail::testAmount(100'000);
  std::string lists, maps;
  for (unsigned i = 0; i < kTimes; ++i) {
    lists += bytes(kList + kString, "a") + bytes(kList + kMessage, "");
    maps += bytes(kMap + kString, bytes(1, std::to_string(i))) + number(kList + kInt32, 1);
  }
  const auto all = decoded<Every>(lists + maps);
  EXPECT_EQ(all.listString.size(), kTimes);
  EXPECT_EQ(all.listMessage.size(), kTimes);
  EXPECT_EQ(all.mapString.size(), kTimes);
  EXPECT_EQ(all.listInt32.size(), kTimes);
  Pool pool;
  EXPECT_EQ(fromProtobuf<Every>(body(lists + maps), {.pool = &pool}), all);
}

TEST(ProtobufErrorTest, TornListsOneInsideTheOtherTakeLinearTime) {
  std::string inList, inMap, inNext;
  for (int i = 0; i < 400; ++i) {
    inList = bytes(3, inList) + bytes(1, "x") + bytes(3, "");
    inMap = bytes(4, bytes(1, "k") + bytes(2, inMap)) + bytes(1, "x") + bytes(4, "");
    inNext = bytes(2, inNext) + bytes(1, "x") + bytes(2, bytes(3, "")) + bytes(2, "");
  }
  EXPECT_EQ(decoded<Tree>(inList).list.size(), 2u);
  EXPECT_EQ(decoded<Tree>(inMap).map.size(), 2u);
  EXPECT_EQ(decoded<Tree>(inNext).next.read().list.size(), 1u);
}

TEST(ProtobufErrorTest, AMessageInVeryManyPartsEndsSoon) {
  std::string parts;
  for (int i = 0; i < detail::testAmount(200'000); ++i)
    parts += bytes(kOptional + kMessage, bytes(3, "w"));
  EXPECT_NE(error<Every>(parts).find("a message is in too many parts"), std::string::npos);
}

}  // namespace
}  // namespace kube
