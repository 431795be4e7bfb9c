#include "kube/codec/stream_encode.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kube/base/error.h"
#include "kube/codec/internal/every_kind_testing.h"
#include "kube/codec/internal/sample_types_testing.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/unstructured.h"
#include "kube/meta/unstructured.h"

namespace kube {
namespace {

using everykind::Random;
using everykind::Widget;
using everykind::WidgetList;

std::vector<Widget> someWidgets(int count) {
  Random random(1);
  std::vector<Widget> result;
  for (int i = 0; i < count; ++i) {
    result.push_back(random.widget(false));
    result.back().metadata.name = "w" + std::to_string(i);
  }
  return result;
}

template <class T>
std::string encodeList(Format format, const std::vector<T>& items, const metav1::ListMeta& meta) {
  const ResourceInfo& kind = *TypeOf<Widget>::info.resource;
  std::optional<AnyObject> object;
  return kube::encodeList(
      format, {kind.group, kind.version, std::string(kind.kind) + "List"}, meta, items.size(),
      [&](std::size_t i) -> const AnyObject& { return object.emplace(items[i]); });
}

template <class T>
std::pair<std::vector<T>, metav1::ListMeta> decodeList(std::string_view body, std::size_t chunk) {
  std::vector<T> items;
  ListDecoder<T> decoder([&](T&& item) { items.push_back(std::move(item)); });
  for (; !body.empty(); body.remove_prefix(std::min(chunk, body.size()))) {
    decoder.feed(body.substr(0, chunk));
  }
  return {std::move(items), decoder.finish()};
}

class StreamEncodeTest : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Format, StreamEncodeTest,
                         ::testing::Values(Format::Json, Format::Protobuf), [](const auto& info) {
                           return info.param == Format::Json ? "Json" : "Protobuf";
                         });

TEST_P(StreamEncodeTest, ListsAreReadBack) {
  metav1::ListMeta meta{.resourceVersion = "42", .continue_ = "more"};
  meta.remainingItemCount = 7;
  for (const int count : {0, 1, 30}) {
    const std::vector<Widget> widgets = someWidgets(count);
    const std::string body = encodeList(GetParam(), widgets, meta);
    const auto [items, read] = decodeList<Widget>(body, 100);
    EXPECT_EQ(items, widgets);
    EXPECT_EQ(read, meta);
  }
}

TEST_P(StreamEncodeTest, ItemsMayBeLargerThanAnyLengthPrefix) {
  std::vector<Widget> widgets = someWidgets(2);
  widgets[0].metadata.annotations["long"] = std::string(300'000, 'x');
  const auto [items, meta] = decodeList<Widget>(encodeList(GetParam(), widgets, {}), 1 << 20);
  EXPECT_EQ(items, widgets);
}

// Copies share their parts until one of them is changed. There are parts of every size: some too
// small to be remembered, some too large, and some that displace others.
TEST_P(StreamEncodeTest, SharedPartsOfLastingItemsAreWrittenForEach) {
  std::vector<Widget> widgets = someWidgets(40);
  widgets[3].metadata.annotations["long"] = std::string(300'000, 'x');
  for (int i = 0; i < 30; ++i) {
    widgets[static_cast<std::size_t>(i)].metadata.labels["some"] =
        std::string(static_cast<std::size_t>(i) * 900, 'y');
  }
  for (int round = 1; round < 4; ++round) {
    for (std::size_t i = 0; i < 40; ++i) {
      widgets.push_back(widgets[i]);
      widgets.back().metadata.name = "w" + std::to_string(widgets.size());
      if (i % 3 == 0) widgets.back().metadata.labels["round"] = std::to_string(round);
    }
  }
  std::vector<AnyObject> objects;
  for (const Widget& widget : widgets) objects.emplace_back(widget);
  const ResourceInfo& kind = *TypeOf<Widget>::info.resource;
  ListEncoder encoder(
      GetParam(), {kind.group, kind.version, std::string(kind.kind) + "List"}, {}, objects.size(),
      [&](std::size_t i) -> const AnyObject& { return objects[i]; }, false, {}, true);
  std::string body;
  while (encoder.next(body, 10'000)) {
  }
  EXPECT_EQ(body, encodeList(GetParam(), widgets, {}));
  EXPECT_EQ(decodeList<Widget>(body, 1 << 20).first, widgets);

  WidgetList list;
  for (const Widget& widget : widgets) list.items.push_back(widget);
  if (GetParam() == Format::Json) {
    EXPECT_EQ(toJson(list), body);
    EXPECT_EQ(fromJson<WidgetList>(toJson(list, 2)), list);
  } else {
    EXPECT_EQ(fromProtobuf<WidgetList>(toProtobuf(list)), list);
  }
}

TEST_P(StreamEncodeTest, PiecesAreTheWhole) {
  const std::vector<Widget> widgets = someWidgets(30);
  const metav1::ListMeta meta{.resourceVersion = "42"};
  const std::string whole = encodeList(GetParam(), widgets, meta);
  const ResourceInfo& kind = *TypeOf<Widget>::info.resource;
  std::optional<AnyObject> object;
  const ListItems item = [&](std::size_t i) -> const AnyObject& {
    return object.emplace(widgets[i]);
  };
  for (const bool known : {false, true}) {
    ListEncoder encoder(
        GetParam(), {kind.group, kind.version, std::string(kind.kind) + "List"}, meta,
        widgets.size(), item, false,
        known ? [&](std::size_t i) { return protobufSize(item(i)); } : ListEncoder::Sizes());
    std::string all;
    int pieces = 0;
    for (bool more = true; more; ++pieces) {
      std::string piece;
      more = encoder.next(piece, 1000);
      EXPECT_LT(piece.size(), whole.size() / 2);
      all += piece;
    }
    EXPECT_EQ(all, whole);
    EXPECT_GT(pieces, 5);
  }
}

TEST(StreamEncodeTest, SizesAreThoseOfTheEncoding) {
  for (const Widget& widget : someWidgets(50)) {
    const std::string bytes = toProtobuf(widget);
    EXPECT_EQ(protobufSize(AnyObject(widget)), openProtobuf(bytes).raw.size());
  }
  EXPECT_THROW(protobufSize(AnyObject(Unstructured())), Error);
}

TEST_P(StreamEncodeTest, EventsAreReadBack) {
  const std::vector<Widget> widgets = someWidgets(3);
  metav1::Status expired{.status = "Failure", .reason = "Expired", .code = 410};
  std::string body;
  body += encodeWatchEvent(EventType::Added, AnyObject(widgets[0]), GetParam());
  body += encodeWatchEvent(EventType::Modified, AnyObject(widgets[1]), GetParam());
  body += encodeWatchEvent(EventType::Deleted, AnyObject(widgets[2]), GetParam());
  Widget mark;
  mark.metadata.resourceVersion = "9";
  body += encodeWatchEvent(EventType::Bookmark, AnyObject(mark), GetParam());
  body += encodeWatchEvent(EventType::Error, AnyObject(expired), GetParam());
  std::vector<WatchEvent<Widget>> events;
  WatchDecoder<Widget> decoder(
      [&](WatchEvent<Widget>&& event) { events.push_back(std::move(event)); });
  decoder.feed(body);
  decoder.finish();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0].type, EventType::Added);
  EXPECT_EQ(events[1].type, EventType::Modified);
  EXPECT_EQ(events[2].type, EventType::Deleted);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(events[i].object, widgets[i]);
  EXPECT_EQ(events[3].type, EventType::Bookmark);
  EXPECT_EQ(events[3].object.metadata.resourceVersion, "9");
  EXPECT_EQ(events[4].type, EventType::Error);
  EXPECT_EQ(events[4].status.code, 410);
}

const GroupVersionKind kNetworks{"samplecrd.k8s.io", "v1", "NetworkList"};

ListItems always(const AnyObject& object) {
  return [&](std::size_t) -> const AnyObject& { return object; };
}

TEST(StreamEncodeTest, ItemsOfAJsonListNameTheirKindOnlyIfUnstructuredOrNamed) {
  samplecrdv1::Network network;
  network.metadata.name = "n";
  AnyObject object(network);
  const Value list =
      parseJson(encodeList(Format::Json, kNetworks, {.resourceVersion = "1"}, 1, always(object)));
  EXPECT_EQ(list["kind"], Value("NetworkList"));
  EXPECT_EQ(list["apiVersion"], Value("samplecrd.k8s.io/v1"));
  EXPECT_TRUE(list["items"].asArray()[0]["kind"].isNull());

  object.setGvk({"other.k8s.io", "v2", "Net"});
  const Value named = parseJson(encodeList(Format::Json, kNetworks, {}, 1, always(object), true));
  EXPECT_EQ(named["items"].asArray()[0]["kind"], Value("Net"));
  EXPECT_EQ(named["items"].asArray()[0]["apiVersion"], Value("other.k8s.io/v2"));

  const AnyObject dynamic(toUnstructured(network));
  EXPECT_EQ(parseJson(encodeList(Format::Json, kNetworks, {}, 1, always(dynamic)))["items"]
                .asArray()[0]["kind"],
            Value("Network"));
}

TEST(StreamEncodeTest, UnstructuredListsAndEventsAreReadBack) {
  samplecrdv1::Network network;
  network.metadata.name = "n";
  network.spec->cidr = "10.0.0.0/8";
  const Unstructured object = toUnstructured(network);
  const AnyObject any(object);
  const auto [items, meta] = decodeList<Unstructured>(
      encodeList(Format::Json, kNetworks, {.resourceVersion = "1"}, 2, always(any)), 10);
  EXPECT_EQ(items, (std::vector<Unstructured>{object, object}));

  std::vector<Unstructured> seen;
  WatchDecoder<Unstructured> decoder(
      [&](WatchEvent<Unstructured>&& event) { seen.push_back(std::move(event.object)); });
  decoder.feed(encodeWatchEvent(EventType::Added, AnyObject(object), Format::Json));
  decoder.finish();
  EXPECT_EQ(seen, std::vector<Unstructured>{object});
}

TEST(StreamEncodeTest, TypesWithoutAProtobufFormAreRefused) {
  const AnyObject network{samplecrdv1::Network{}};
  EXPECT_THROW(encodeList(Format::Protobuf, kNetworks, {}, 1, always(network)), Error);
  EXPECT_THROW(encodeWatchEvent(EventType::Added, AnyObject(Unstructured()), Format::Protobuf),
               Error);
}

TEST(StreamEncodeTest, AProtobufListSaysItsKindInTheEnvelope) {
  const std::string body = encodeList(Format::Protobuf, someWidgets(1), {});
  const ProtobufEnvelope envelope = openProtobuf(body);
  EXPECT_EQ(envelope.kind, std::string(TypeOf<Widget>::info.resource->kind) + "List");
}

}  // namespace
}  // namespace kube
