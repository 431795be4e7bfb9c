#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "kube/base/internal/error_of_testing.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/internal/wire_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/stream.h"

namespace kube {
namespace {

using everykind::Random;
using everykind::Widget;

struct Event {
  std::string type;
  Widget object;
  metav1::Status status;
  bool operator==(const Event&) const = default;
};

std::vector<Event> watched(std::string_view body, std::size_t chunk, StreamOptions options = {}) {
  std::vector<Event> events;
  WatchDecoder<Widget> stream(
      [&](WatchEvent<Widget>&& event) {
        events.push_back(
            {std::string(toString(event.type)), std::move(event.object), std::move(event.status)});
      },
      options);
  for (; !body.empty(); body.remove_prefix(std::min(chunk, body.size()))) {
    stream.feed(std::string(body.substr(0, chunk)));
  }
  stream.finish();
  return events;
}
std::string watchError(std::string_view body, std::size_t chunk = 1 << 20,
                       StreamOptions options = {}) {
  return errorOf([&] { watched(body, chunk, options); });
}

std::string line(std::string_view type, std::string_view object) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + std::string(object) + "}\n";
}
/// A frame as an API server sends it: the event without an envelope, its object with one.
std::string frame(std::string_view bytes) {
  std::string result;
  for (int shift = 24; shift >= 0; shift -= 8) result += static_cast<char>(bytes.size() >> shift);
  return result.append(bytes);
}
std::string frame(std::string_view type, std::string_view object) {
  return frame(wire::bytes(1, type) + wire::bytes(2, wire::bytes(1, object)));
}

std::vector<Event> someEvents() {
  Random random(1);
  std::vector<Event> events;
  for (const char* type : {"ADDED", "MODIFIED", "DELETED", "ADDED", "ERROR", "BOOKMARK"}) {
    Event event{type, {}, {}};
    if (event.type == "ERROR") {
      event.status.code = 410;
      event.status.reason = "Expired";
      event.status.status = "Failure";
    } else if (event.type == "BOOKMARK") {
      event.object.metadata.resourceVersion = "4711";
    } else {
      event.object = random.widget(false);
    }
    events.push_back(event);
  }
  return events;
}
std::string jsonBody(const std::vector<Event>& events, int indent = 0) {
  std::string body;
  for (const Event& event : events) {
    body += line(event.type, event.type == "ERROR" ? toJson(event.status, indent)
                                                   : toJson(event.object, indent));
  }
  return body;
}
std::string protobufBody(const std::vector<Event>& events) {
  std::string body;
  for (const Event& event : events) {
    body += frame(event.type,
                  event.type == "ERROR" ? toProtobuf(event.status) : toProtobuf(event.object));
  }
  return body;
}

TEST(WatchDecoderTest, EventsOfEveryTypeInBothFormats) {
  const auto events = someEvents();
  EXPECT_EQ(watched(jsonBody(events), 1 << 20), events);
  EXPECT_EQ(watched(jsonBody(events, 2), 1 << 20), events);
  EXPECT_EQ(watched(protobufBody(events), 1 << 20), events);
}

TEST(WatchDecoderTest, ChunksOfAnySize) {
  const auto events = someEvents();
  for (const std::string& body : {jsonBody(events), jsonBody(events, 1), protobufBody(events)}) {
    for (const std::size_t size : {1, 2, 3, 5, 64, 1000})
      EXPECT_EQ(watched(body, size), events) << size;
  }
}

TEST(WatchDecoderTest, LinesMayBeJoinedOrApart) {
  EXPECT_EQ(
      watched(R"({"type":"ADDED","object":{}}{"type":"DELETED","object":{}})", 1 << 20).size(), 2u);
  EXPECT_EQ(
      watched("\n\r\n {\"object\" : { } , \"x\" : [ {} ] , \"type\" : \"ADDED\"}\n\n\n", 1).size(),
      1u);
  EXPECT_EQ(watched("", 1).size(), 0u);
  EXPECT_EQ(watched(" \n", 1).size(), 0u);
}

TEST(WatchDecoderTest, AnEventIsHandedOutAsSoonAsItIsComplete) {
  for (const std::string& body : {line("ADDED", "{}"), frame("ADDED", toProtobuf(Widget()))}) {
    int events = 0;
    WatchDecoder<Widget> stream([&](WatchEvent<Widget>&&) { ++events; });
    const std::size_t end = body.back() == '\n' ? body.size() - 1 : body.size();
    stream.feed(std::string_view(body).substr(0, end - 1));
    EXPECT_EQ(events, 0);
    stream.feed(std::string_view(body).substr(end - 1, 1));
    EXPECT_EQ(events, 1);
  }
}

TEST(WatchDecoderTest, AnUnknownTypeIsAnError) {
  EXPECT_EQ(watchError(line("RENAMED", "{}")),
            "json: line 1, column 1 (offset 0): unknown type of watch event \"RENAMED\"");
  EXPECT_EQ(watchError(frame("RENAMED", toProtobuf(Widget()))),
            "protobuf: offset 4: unknown type of watch event \"RENAMED\"");
}

TEST(WatchDecoderTest, TheEventItselfMayHaveAnEnvelope) {
  metav1::WatchEvent event;
  event.type = "ADDED";
  event.object.raw = String(toProtobuf(Widget()));
  EXPECT_EQ(watched(frame(toProtobuf(event)), 7).size(), 1u);
}

TEST(WatchDecoderTest, ErrorsNameTheFieldAndThePlaceInTheBody) {
  for (const std::size_t chunk : {std::size_t{1} << 20, std::size_t{1}}) {
    EXPECT_EQ(
        watchError(line("ADDED", "{}") + line("ADDED", R"({"metadata":{"name":5}})"), chunk),
        "json: line 2, column 46 (offset 74): object.metadata.name: expected a string, found a "
        "number");
    EXPECT_EQ(
        watchError("\n  {\"type\":\"ADDED\",\n \"object\":\n  {\"metadata\":{\"labels\":7}}}",
                   chunk),
        "json: line 4, column 25 (offset 55): object.metadata.labels: expected an object, found "
        "a number");
    EXPECT_EQ(
        watchError(line("ERROR", R"({"code":"x"})"), chunk),
        "json: line 1, column 34 (offset 33): object.code: expected a number, found a string");
    EXPECT_EQ(watchError(line("ADDED", R"({"kind":"Pod"})"), chunk),
              "json: line 1, column 34 (offset 33): object.kind: expected kind \"Widget\", found "
              "\"Pod\"");
    EXPECT_EQ(
        watchError(frame("ADDED", toProtobuf(Widget())) +
                       frame("ADDED", wire::body(wire::bytes(1, wire::bytes(1, "\xFF")))),
                   chunk),
        "protobuf: offset " +
            std::to_string(frame("ADDED", toProtobuf(Widget())).size() + 4 + 7 + 4 + 4 + 2 + 5) +
            ": object.metadata.name: a string is not valid UTF-8");
    EXPECT_EQ(watchError(frame("ADDED", toProtobuf(metav1::Status())), chunk),
              "protobuf: offset 19: object: expected test.kubexx/v1 Widget, found v1 Status");
  }
}

TEST(WatchDecoderTest, MalformedEventsAreErrors) {
  for (const char* body : {"5\n",
                           "[]",
                           "\"x\"",
                           "null ",
                           "{}",
                           "{\"type\":\"ADDED\"}",
                           "{\"object\":{}}",
                           "{\"type\":5,\"object\":{}}",
                           "{\"type\":\"ADDED\",\"object\":5}",
                           "{\"type\":\"ADDED\",\"object\":null}",
                           "{\"type\":\"ADDED\",\"object\":{},}",
                           "{\"type\":\"ADDED\",\"object\":{} \"x\":1}",
                           "{\"type\":\"ADDED\" \"object\":{}}",
                           "{\"type\":\"ADDED\",\"object\":{},\"x\":tru}",
                           "{\"type\":\"ADDED\",\"object\":{}]",
                           "{\"type\":\"ADDED\",\"object\":{]}",
                           "{\"type\":\"ADDED\",\"object\":{}}}",
                           "{\"type\":\"ADDED\",\"object\":{\"a\"}}",
                           "}",
                           "]",
                           "nonsense\n",
                           "{\"type\":\"AD\\xDED\",\"object\":{}}",
                           "{\"type\":\"\xFF\",\"object\":{}}"}) {
    EXPECT_NE(watchError(body), "") << body;
    EXPECT_NE(watchError(body, 1), "") << body;
  }
  using wire::bytes;
  for (const std::string& body :
       {frame(""), frame("x"), frame("ADDED", ""), frame("", toProtobuf(Widget())),
        frame(bytes(1, "ADDED")), frame("ADDED", "{}"), frame("ADDED", kProtobufMagic),
        frame(wire::number(1, 1) + bytes(2, bytes(1, toProtobuf(Widget())))),
        frame(bytes(1, "ADDED") + bytes(2, "\x0A\x7F"))}) {
    EXPECT_NE(watchError(body), "");
    EXPECT_NE(watchError(body, 1), "");
  }
}

TEST(WatchDecoderTest, AnEndInsideAFrameIsAnError) {
  const auto events = someEvents();
  for (const std::string& body : {jsonBody({events[0]}), protobufBody({events[0]})}) {
    const std::size_t end = body.back() == '\n' ? body.size() - 1 : body.size();
    for (std::size_t size = 1; size < end; ++size) {
      ASSERT_NE(watchError(body.substr(0, size)), "") << size;
      ASSERT_NE(watchError(body + body.substr(0, size)), "") << size;
    }
  }
  EXPECT_EQ(watchError("{\"type\":\n \"ADDED\""),
            "json: line 2, column 9 (offset 17): unexpected end inside a frame");
  EXPECT_EQ(watchError(frame("x").substr(0, 3)),
            "protobuf: offset 3: unexpected end inside a frame");
  EXPECT_EQ(watchError(frame(std::string(100, 'x')).substr(0, 50)),
            "protobuf: offset 50: unexpected end inside a frame");
}

TEST(WatchDecoderTest, FramesOverTheLimitAreErrors) {
  const StreamOptions options{.maxItemBytes = 100};
  EXPECT_EQ(watchError(std::string("\xFF\xFF\xFF\xFF", 4)),
            "protobuf: offset 4: a part is over 67108864 bytes long");
  EXPECT_EQ(watchError(std::string("\0\0\0\x65", 4), 1, options),
            "protobuf: offset 4: a part is over 100 bytes long");
  const std::string big =
      line("ADDED", R"({"metadata":{"name":")" + std::string(200, 'x') + "\"}}");
  for (const std::size_t chunk : {std::size_t{1} << 20, std::size_t{1}}) {
    EXPECT_EQ(watchError("\n" + big, chunk, options),
              "json: line 2, column 1 (offset 1): a value is over 100 bytes long");
  }
  EXPECT_EQ(watched(big, 1, {.maxItemBytes = 300}).size(), 1u);
}

TEST(WatchDecoderTest, ExceptionsOfTheCallbackPassThrough) {
  const DecodeError own({.format = "mine", .path = "p", .offset = 7}, "reason");
  for (const std::string& body : {line("ADDED", "{}"), frame("ADDED", toProtobuf(Widget()))}) {
    WatchDecoder<Widget> stream([&](WatchEvent<Widget>&&) { throw own; });
    EXPECT_EQ(errorOf([&] { stream.feed(body); }), own.what());
    WatchDecoder<Widget> other([](WatchEvent<Widget>&&) { throw std::runtime_error("mine"); });
    EXPECT_THROW(other.feed(body), std::runtime_error);
  }
}

TEST(WatchDecoderTest, EventsShareWithWhatAPoolHolds) {
  Pool pool;
  Widget widget;
  widget.metadata.labels = {{"app", "web"}};
  for (const std::string& body :
       {line("ADDED", toJson(widget)), frame("ADDED", toProtobuf(widget))}) {
    const auto first = watched(body, 1 << 20, {.pool = &pool});
    const auto second = watched(body, 3, {.pool = &pool});
    EXPECT_TRUE(first[0].object.metadata.labels.sharesWith(second[0].object.metadata.labels));
  }
}

}  // namespace
}  // namespace kube
