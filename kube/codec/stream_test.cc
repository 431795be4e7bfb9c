#include "kube/codec/stream.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/base/internal/sanitizer.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/internal/wire_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"

namespace kube {
namespace {

using everykind::Random;
using everykind::Widget;
using everykind::WidgetList;

/// Sizes of the chunks that a body is cut into; the last one repeats.
using Sizes = std::vector<std::size_t>;

template <class Stream>
void feed(Stream& stream, std::string_view body, const Sizes& sizes) {
  for (std::size_t i = 0; !body.empty(); ++i) {
    // A separate copy for each chunk, so that reading past its end or after its lifetime is
    // detected.
    const std::string chunk(body.substr(0, sizes[std::min(i, sizes.size() - 1)]));
    stream.feed(chunk);
    body.remove_prefix(chunk.size());
  }
}

WidgetList streamed(std::string_view body, const Sizes& sizes, StreamOptions options = {}) {
  WidgetList result;
  ListDecoder<Widget> stream([&](Widget&& widget) { result.items.push_back(std::move(widget)); },
                             options);
  feed(stream, body, sizes);
  result.metadata = stream.finish();
  return result;
}
WidgetList streamed(std::string_view body) { return streamed(body, Sizes{body.size() + 1}); }
std::string listError(std::string_view body, const Sizes& sizes = {1 << 30},
                      StreamOptions options = {}) {
  return errorOf([&] { streamed(body, sizes, options); });
}

WidgetList someWidgets(unsigned seed, int count, bool values) {
  Random random(seed);
  WidgetList list;
  list.metadata.resourceVersion = "1234";
  list.metadata.continue_ = "next";
  for (int i = 0; i < count; ++i) list.items.push_back(random.widget(values));
  return list;
}

std::vector<Sizes> randomSizes(int count, unsigned most) {
  std::mt19937 random(7);
  std::vector<Sizes> result;
  for (int i = 0; i < count; ++i) {
    Sizes sizes;
    for (int k = 0; k < 2000; ++k) sizes.push_back(1 + random() % most);
    result.push_back(sizes);
  }
  return result;
}

/// The list in JSON on one line, in indented JSON, and in protobuf if it has such a form.
std::vector<std::string> bodies(const WidgetList& list, bool protobuf) {
  std::vector<std::string> result{toJson(list), toJson(list, 2)};
  if (protobuf) result.push_back(toProtobuf(list));
  return result;
}

// ---- Chunks ----

TEST(ListDecoderTest, ItemsComeInOrderAndMetadataAtTheEnd) {
  const WidgetList list = someWidgets(1, 20, false);
  for (const std::string& body : bodies(list, true)) {
    EXPECT_EQ(streamed(body), list);
    EXPECT_EQ(streamed(body, Sizes{1000}, {.ownPool = false}), list);
  }
}

TEST(ListDecoderTest, OneByteAtATime) {
  const WidgetList list = someWidgets(2, 10, false);
  for (const std::string& body : bodies(list, true)) EXPECT_EQ(streamed(body, {1}), list);
}

constexpr std::size_t kStep = detail::kSanitized ? 7 : 1;

TEST(ListDecoderTest, EverySplitInTwo) {
  WidgetList list = someWidgets(3, 2, false);
  list.items[0].metadata.labels = {{"a", "},{\""}, {"b\\", "\\\""}, {"c", "\xE2\x82\xAC"}};
  for (const std::string& body : bodies(list, true)) {
    for (std::size_t first = 1; first < body.size(); first += kStep) {
      ASSERT_EQ(streamed(body, {first, body.size()}), list) << first;
    }
  }
}

TEST(ListDecoderTest, ChunksOfRandomSize) {
  const WidgetList list = someWidgets(4, 300, false);
  for (const std::string& body : bodies(list, true)) {
    ASSERT_GT(body.size(), std::size_t{300'000});
    for (const unsigned most : {300U, 5'000U, 70'000U, 200'000U}) {
      for (const Sizes& sizes : randomSizes(2, most))
        ASSERT_EQ(streamed(body, sizes), list) << most;
    }
  }
}

TEST(ListDecoderTest, ValuesInItemsComeThrough) {
  const WidgetList list = someWidgets(5, 50, true);
  for (const std::string& body : bodies(list, false)) {
    EXPECT_EQ(streamed(body), list);
    EXPECT_EQ(streamed(body, {777}), list);
  }
}

// The decoder looks for items in pieces of 128 KB.
TEST(ListDecoderTest, ItemsLargerThanAPiece) {
  WidgetList list;
  for (const std::size_t size : {10, 130'000, 5, 131'072, 500'000, 1, 1'500'000, 3}) {
    Widget widget;
    widget.metadata.name = "w" + std::to_string(size);
    widget.metadata.annotations = {{"big", std::string(size, 'x')}, {"end", "},{\""}};
    for (std::size_t i = 0; i < size / 100; ++i)
      widget.metadata.finalizers.push_back("f\"" + std::to_string(i));
    list.items.push_back(widget);
  }
  for (const std::string& body : bodies(list, true)) {
    EXPECT_EQ(streamed(body), list);
    for (const Sizes& sizes : {Sizes{1000}, Sizes{65536}, Sizes{131072}, Sizes{400'000}}) {
      EXPECT_EQ(streamed(body, sizes), list);
    }
  }
}

// Misleading text at every position around the border of a piece.
TEST(ListDecoderTest, TextThatLooksLikeStructureAtTheBorderOfAPiece) {
  const std::string tricky[] = {"},{\"", "\\\\\"", "\"},{\"", "\\", "\"",
                                ",\"",   "]",      "}]},",    "\n", "},{"};
  for (const std::string& text : tricky) {
    for (std::size_t shift = 0; shift < 40; ++shift) {
      WidgetList list;
      Widget filler;
      filler.metadata.annotations = {{"fill", std::string(131'072 - 180 + shift, 'x')}};
      list.items.push_back(filler);
      Widget widget;
      std::string repeated;
      for (int i = 0; i < 12; ++i) repeated += text;
      widget.metadata.annotations = {{"a", repeated}, {text, text}};
      for (int i = 0; i < 4; ++i) list.items.push_back(widget);
      const std::string body = toJson(list);
      ASSERT_EQ(streamed(body), list) << text << shift;
      ASSERT_EQ(streamed(body, {65'536}), list) << text << shift;
    }
  }
}

TEST(ListDecoderTest, ManySmallItemsAcrossManyPieces) {
  WidgetList list;
  for (int i = 0; i < 20'000; ++i) {
    Widget widget;
    widget.metadata.name = "w" + std::to_string(i);
    list.items.push_back(widget);
  }
  for (const std::string& body : bodies(list, true)) {
    EXPECT_EQ(streamed(body), list);
    EXPECT_EQ(streamed(body, {16'384}), list);
    EXPECT_EQ(streamed(body, {13}), list);
  }
}

TEST(ListDecoderTest, WhiteSpaceAnywhere) {
  std::string spaced = "\n\t ";
  for (const char c : std::string_view(R"({"items":[{"metadata":{"name":"n"}},{}],"x":[1,{}]})")) {
    spaced += c;
    if (c != '"' && c != 'n' && (c < 'a' || c > 'z')) spaced += " \r\n\t";
  }
  WidgetList list;
  list.items.resize(2);
  list.items[0].metadata.name = "n";
  for (std::size_t size = 1; size <= spaced.size(); ++size) {
    ASSERT_EQ(streamed(spaced, {size}), list) << size;
  }
}

// ---- Members ----

TEST(ListDecoderTest, MembersMayComeInAnyOrder) {
  WidgetList list;
  list.metadata.resourceVersion = "7";
  list.items.resize(1);
  list.items[0].metadata.name = "n";
  const std::string kind = R"("kind":"WidgetList")", version = R"("apiVersion":"test.kubexx/v1")",
                    meta = R"("metadata":{"resourceVersion":"7"})",
                    items = R"("items":[{"metadata":{"name":"n"}}])",
                    unknown = R"("unknown":{"items":[1,"}"],"metadata":5})";
  for (const std::string& body : {"{" + kind + "," + version + "," + meta + "," + items + "}",
                                  "{" + items + "," + meta + "," + version + "," + kind + "}",
                                  "{" + meta + "," + unknown + "," + items + "}",
                                  "{" + items + "," + unknown + "," + meta + "}",
                                  "{" + unknown + "," + items + "," + kind + "," + meta + "}"}) {
    EXPECT_EQ(streamed(body), list) << body;
    EXPECT_EQ(streamed(body, {1}), list) << body;
    EXPECT_EQ(fromJson<WidgetList>(body), list) << body;
  }
}

TEST(ListDecoderTest, ItemsMayBeNullEmptyOrAbsent) {
  for (const char* body : {"{}", R"({"items":null})", R"({"items":[]})", R"({"items": [ ] })",
                           R"({"metadata":{},"items":[],"x":1})", R"({"metadata":null})",
                           R"({"items":null,"items":[]})"}) {
    EXPECT_EQ(streamed(body), WidgetList()) << body;
    EXPECT_EQ(streamed(body, {1}), WidgetList()) << body;
  }
  EXPECT_EQ(streamed(R"({"items":[null,{"metadata":{"name":"a"}},null]})").items.size(), 3u);
  EXPECT_EQ(streamed(wire::body("")), WidgetList());
}

TEST(ListDecoderTest, NamesMayHaveEscapes) {
  EXPECT_EQ(streamed(R"({"\u0069tems":[{}],"k\u0069nd":"Widget\u004cist"})").items.size(), 1u);
}

TEST(ListDecoderTest, AnotherKindIsAnErrorBeforeItsItemsAreHandedOut) {
  int items = 0;
  const auto failure = [&](std::string_view body) {
    return errorOf([&] {
      ListDecoder<Widget> stream([&](Widget&&) { ++items; });
      stream.feed(body);
      stream.finish();
    });
  };
  EXPECT_EQ(failure(R"({"kind":"PodList","apiVersion":"v1","items":[{}]})"),
            "json: expected test.kubexx/v1 WidgetList, found v1 PodList");
  EXPECT_EQ(failure(R"({"kind":"WidgetList","apiVersion":"v1","items":[{}]})"),
            "json: expected test.kubexx/v1 WidgetList, found v1 WidgetList");
  metav1::Status status;
  status.message = "gone";
  status.code = 410;
  status.status = "Failure";
  EXPECT_EQ(failure(toJson(status)), "json: expected test.kubexx/v1 WidgetList, found v1 Status");
  EXPECT_EQ(failure(toProtobuf(status)),
            "protobuf: expected test.kubexx/v1 WidgetList, found v1 Status");
  EXPECT_EQ(items, 0);
  EXPECT_EQ(failure(R"({"items":[{}],"kind":"PodList"})"),
            "json: expected test.kubexx/v1 WidgetList, found  PodList");
  EXPECT_EQ(failure(R"({"kind":5})"), "json: line 1, column 9 (offset 8): kind: expected a string");
}

// ---- Errors ----

TEST(ListDecoderTest, ErrorsNameTheItemAndThePlaceInTheBody) {
  for (const Sizes& sizes : {Sizes{1 << 20}, Sizes{1}, Sizes{7}}) {
    EXPECT_EQ(
        listError(R"({"items":[{},{"metadata":{"name":5}}]})", sizes),
        "json: line 1, column 34 (offset 33): items[1].metadata.name: expected a string, found "
        "a number");
    EXPECT_EQ(
        listError("{\n \"items\": [\n  {},\n  {\"metadata\":\n   {\"labels\": {\"a\": []}}}]}",
                  sizes),
        "json: line 5, column 21 (offset 55): items[1].metadata.labels.a: expected a string, "
        "found an array");
    EXPECT_EQ(listError(R"({"items":[{},{},5]})", sizes),
              "json: line 1, column 17 (offset 16): items[2]: expected an object, found a number");
    EXPECT_EQ(listError("{\"items\":[{}\n{}]}", sizes),
              "json: line 2, column 1 (offset 13): items: expected ',' or ']'");
    EXPECT_EQ(listError("{\"items\":\n {}}", sizes),
              "json: line 2, column 2 (offset 11): items: expected an array");
    EXPECT_EQ(listError("{\"items\":[],\"items\":[]}", sizes),
              "json: line 1, column 21 (offset 20): items: duplicate field");
    EXPECT_EQ(listError("{\n\"metadata\":{\"continue\":1}}", sizes),
              "json: line 2, column 24 (offset 25): metadata.continue: expected a string, found a "
              "number");
    EXPECT_EQ(listError("{\"items\":[{}]}\n x", sizes),
              "json: line 2, column 2 (offset 16): unexpected text after the list");
    EXPECT_EQ(listError("{\"items\":[{}],\n\"x\":tru}", sizes),
              "json: line 2, column 5 (offset 19): expected a value");
    EXPECT_EQ(listError("[]", sizes), "json: line 1, column 1 (offset 0): expected a list object");
    EXPECT_EQ(listError("{\"items\":[{}\n ", sizes),
              "json: line 2, column 2 (offset 14): unexpected end of the list");
    EXPECT_EQ(listError("{\"items\":[\n{\"metadata\":", sizes),
              "json: line 2, column 13 (offset 23): unexpected end of the list");
    EXPECT_EQ(listError("{\"metadata\":\n{\"x\":", sizes),
              "json: line 2, column 6 (offset 18): unexpected end of the list");
    EXPECT_EQ(listError("{\"items\":[\n{\"x\":\"a\\", sizes),
              "json: line 2, column 9 (offset 19): unexpected end inside a string");
  }
  EXPECT_EQ(listError(""), "list: offset 0: unexpected end: no list");
}

TEST(ListDecoderTest, PlacesInTheBodyHoldAcrossPieces) {
  std::string body = "{\"items\":[\n";
  for (int i = 0; i < 3000; ++i) {
    body += R"({"metadata":{"name":"w)" + std::to_string(i) + "\",\n\"uid\":\"" +
            std::string(200, 'u') + "\"}},\n";
  }
  body += "{\"metadata\":\n {\"name\": false}}]}";
  const std::string wanted = "json: line 6003, column 11 (offset " +
                             std::to_string(body.size() - 9) +
                             "): items[3000].metadata.name: expected a string, found a boolean";
  EXPECT_EQ(listError(body), wanted);
  EXPECT_EQ(listError(body, {1000}), wanted);
  EXPECT_EQ(listError(body, {50'000}), wanted);
}

TEST(ListDecoderTest, ProtobufErrorsNameTheItemAndTheOffset) {
  using namespace wire;
  const std::string good = bytes(2, bytes(1, bytes(1, "name")));
  const std::string bad = bytes(2, bytes(1, bytes(1, "\xFF")));
  const std::string body = wire::body(good + bad);
  for (const Sizes& sizes : {Sizes{1 << 20}, Sizes{1}, Sizes{5}}) {
    EXPECT_EQ(listError(body, sizes),
              "protobuf: offset 23: items[1].metadata.name: a string is not "
              "valid UTF-8");
    EXPECT_EQ(listError(wire::body(good + wire::key(2, 2) + varint(100) + "x"), sizes),
              "protobuf: offset 17: length past the end of the list");
    EXPECT_EQ(listError(std::string(kProtobufMagic) + bytes(2, good) + bytes(2, good), sizes),
              "protobuf: offset 17: a second list in one envelope");
    EXPECT_EQ(listError(wire::body(number(2, 1)), sizes), "protobuf: offset 6: bad wire type 0");
    EXPECT_EQ(listError(wire::body(wire::key(0, 2) + "x"), sizes),
              "protobuf: offset 6: bad field number");
    EXPECT_EQ(listError(wire::body(wire::key(9, 3) + "x"), sizes),
              "protobuf: offset 6: bad wire type 3");
    EXPECT_EQ(listError(wire::body(std::string(11, '\x81')), sizes),
              "protobuf: offset 16: a number is too long");
    EXPECT_EQ(listError(wire::body(bytes(1, number(2, 7))), sizes),
              "protobuf: offset 9: metadata.resourceVersion: bad wire type");
    EXPECT_EQ(listError("kube", sizes),
              "protobuf: offset 0: not Kubernetes protobuf: the body does not start with k8s\\0");
  }
  EXPECT_EQ(streamed(wire::body(number(9, 1) + good + wire::key(10, 1) + "12345678" +
                                wire::key(11, 5) + "1234" + bytes(12, "x")))
                .items.size(),
            1u);
}

TEST(ListDecoderTest, ListsCutShortAnywhereAreErrors) {
  const WidgetList list = someWidgets(6, 2, false);
  for (const std::string& body : bodies(list, true)) {
    // Two empty fields at the end of a protobuf list may be missing.
    const std::size_t end = isProtobuf(body) ? body.size() - 4 : body.size();
    for (std::size_t size = 0; size < end; size += kStep) {
      ASSERT_NE(listError(body.substr(0, size)), "") << size;
      ASSERT_NE(listError(body.substr(0, size), {3, 1000}), "") << size;
    }
  }
}

TEST(ListDecoderTest, ItemsOverTheLimitAreErrors) {
  WidgetList list = someWidgets(7, 3, false);
  list.items.push_back({});
  list.items[3].metadata.name = std::string(20'000, 'x');
  for (const std::string& body : bodies(list, true)) {
    for (const Sizes& sizes : {Sizes{1 << 20}, Sizes{1}, Sizes{1000}}) {
      EXPECT_EQ(streamed(body, sizes, {.maxItemBytes = 30'000}), list);
      const std::string what = listError(body, sizes, {.maxItemBytes = 19'999});
      EXPECT_NE(what.find("is over 19999 bytes long"), std::string::npos) << what;
    }
  }
  EXPECT_EQ(listError("{\"items\":[{},\n {\"metadata\":{}}]}", {1 << 20}, {.maxItemBytes = 14}),
            "json: line 2, column 2 (offset 15): items: an item is over 14 bytes long");
  EXPECT_EQ(listError("{\"items\":[{},\n {\"metadata\":{}}]}", {1}, {.maxItemBytes = 14}),
            "json: line 2, column 2 (offset 15): items: an item is over 14 bytes long");
  EXPECT_EQ(listError("{\"items\":[{},\n {\"metadata\":{}}]}", {3}, {.maxItemBytes = 15}), "");
  // An endless item fails as soon as it reaches the limit.
  ListDecoder<Widget> stream([](Widget&&) {}, {.maxItemBytes = 1 << 20});
  stream.feed("{\"items\":[{\"x\":\"");
  const std::string chunk(10'000, 'x');
  int chunks = 0;
  EXPECT_NE(errorOf([&] {
              for (; chunks < 1000; ++chunks) stream.feed(chunk);
            }),
            "");
  EXPECT_LT(chunks, 120);
}

TEST(ListDecoderTest, ExceptionsOfTheCallbackPassThrough) {
  const WidgetList list = someWidgets(8, 5, false);
  const DecodeError own({.format = "mine", .path = "p", .offset = 7}, "reason");
  for (const std::string& body : bodies(list, true)) {
    for (const Sizes& sizes : {Sizes{1 << 20}, Sizes{1}}) {
      int seen = 0;
      ListDecoder<Widget> stream([&](Widget&&) {
        if (++seen == 3) throw std::out_of_range("from the callback");
      });
      EXPECT_THROW(
          {
            feed(stream, body, sizes);
            stream.finish();
          },
          std::out_of_range);
      EXPECT_EQ(seen, 3);

      ListDecoder<Widget> other([&](Widget&&) { throw own; });
      EXPECT_EQ(errorOf([&] {
                  feed(other, body, sizes);
                  other.finish();
                }),
                own.what());
    }
  }
}

// ---- Memory ----

std::size_t residentKilobytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kilobytes = 0;
  while (status >> word) {
    if (word == "VmRSS:") status >> kilobytes;
  }
  return kilobytes;
}

TEST(ListDecoderTest, MemoryIsThatOfOneItem) {
  if (detail::kSanitized || residentKilobytes() == 0) GTEST_SKIP() << "cannot be measured here";
  std::string chunk = "{\"kind\":\"WidgetList\",\"items\":[";
  std::size_t items = 0, fed = 0, number = 0;
  const std::size_t before = residentKilobytes();
  std::size_t most = before;
  ListDecoder<Widget> stream([&](Widget&&) { ++items; });
  while (fed < (50 << 20)) {
    while (chunk.size() < (64 << 10)) {
      const std::string n = std::to_string(number++);
      if (number > 1) chunk += ',';
      chunk += R"({"metadata":{"name":"widget-)" + n + R"(","uid":"3b1e-)" + n +
               R"(","labels":{"app":"web","hash":")" + n + R"("},"annotations":{"config":")" +
               std::string(700 + number % 300, 'c') + R"("}},"spec":{"plainString":"s)" + n +
               R"(","listMessage":[{"name":"a"},{"name":")" + n + R"("}]}})";
    }
    stream.feed(std::string_view(chunk).substr(0, 64 << 10));
    chunk.erase(0, 64 << 10);
    fed += 64 << 10;
    most = std::max(most, residentKilobytes());
  }
  stream.feed(chunk + "]}");
  stream.finish();
  EXPECT_EQ(items, number);
  EXPECT_LT(most - before, std::size_t{8 << 10});
}

}  // namespace
}  // namespace kube
