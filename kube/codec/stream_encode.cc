#include "kube/codec/stream_encode.h"

#include <utility>

#include "kube/base/error.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/internal/json_encode.h"
#include "kube/codec/internal/protobuf_encode.h"
#include "kube/codec/internal/varint.h"
#include "kube/codec/json.h"
#include "kube/codec/protobuf.h"

namespace kube {

namespace {

void checkProtobuf(const TypeInfo& type) {
  if (!hasProtobuf(type)) {
    throw Error("protobuf: " + std::string(type.name) + " has no protobuf form");
  }
}

constexpr std::uint32_t kItems = 2;  // the tag of a list's items

// The size of an item with its tag and length.
std::size_t itemSize(std::size_t size) { return 1 + detail::varintLength(size) + size; }

}  // namespace

struct ListEncoder::State {
  State(Format format, std::size_t count, ListItems item, bool named, bool lasting)
      : format(format),
        count(count),
        item(std::move(item)),
        named(named),
        lasting(lasting),
        encoder(lasting ? &known : nullptr) {}

  void beginJson(const GroupVersionKind& list, const metav1::ListMeta& meta) {
    detail::JsonEncoder encoder(head, 0);
    head = "{\"kind\":";
    encoder.string(list.kind);
    head += ",\"apiVersion\":";
    encoder.string(list.groupVersion().str());
    head += ",\"metadata\":";
    encoder.object(TypeOf<metav1::ListMeta>::info, &meta);
    head += ",\"items\":[";
    tail = "]}";
  }

  void beginProtobuf(const GroupVersionKind& list, const metav1::ListMeta& meta,
                     const Sizes& sizeOf) {
    std::size_t items = 0;
    for (std::size_t i = 0; i < count; ++i) {
      items += itemSize(sizeOf ? sizeOf(i) : protobufSize(item(i)));
    }
    encoder.text(4, "");
    encoder.text(3, "");
    encoder.appendTo(tail);
    encoder.clear();
    encoder.message(TypeOf<metav1::ListMeta>::info, &meta);
    encoder.wrap(1, 0);
    encoder.varint(encoder.size() + items);
    encoder.key(2, 2);  // the list in its envelope, length-prefixed
    const std::size_t raw = encoder.size();
    encoder.text(2, list.kind);
    encoder.text(1, list.groupVersion().str());
    encoder.wrap(1, raw);
    encoder.bytes(kProtobufMagic);
    encoder.appendTo(head);
    encoder.clear();
  }

  void nextJson(std::string& out, std::size_t about) {
    detail::JsonEncoder encoder(out, 0, lasting ? &known : nullptr);
    for (const std::size_t start = out.size(); done < count && out.size() - start < about; ++done) {
      if (done != 0) out += ',';
      const AnyObject& object = item(done);
      if (named) {
        out += encodeObject(object, Format::Json);
        continue;
      }
      TypeInfo nameless = object.type();
      nameless.resource = nullptr;
      encoder.object(nameless, object.data());
    }
  }

  // Each item is written back to front; the items of a piece follow one another.
  void nextProtobuf(std::string& out, std::size_t about) {
    for (const std::size_t start = out.size(); done < count && out.size() - start < about; ++done) {
      const AnyObject& object = item(done);
      encoder.message(object.type(), object.data());
      encoder.wrap(kItems, 0);
      encoder.appendTo(out);
      encoder.clear();
    }
  }

  const Format format;
  const std::size_t count;
  const ListItems item;
  const bool named;
  const bool lasting;
  std::string head, tail;
  std::size_t done = 0;  // items
  detail::EncodedParts known;
  detail::ProtobufEncoder encoder;
};

ListEncoder::ListEncoder(Format format, const GroupVersionKind& list, const metav1::ListMeta& meta,
                         std::size_t count, ListItems item, bool named, const Sizes& sizeOf,
                         bool lasting)
    : state_(std::make_unique<State>(format, count, std::move(item), named, lasting)) {
  if (format == Format::Protobuf) {
    state_->beginProtobuf(list, meta, sizeOf);
  } else {
    state_->beginJson(list, meta);
  }
}

ListEncoder::~ListEncoder() = default;
ListEncoder::ListEncoder(ListEncoder&&) noexcept = default;

bool ListEncoder::next(std::string& out, std::size_t about) {
  out += std::exchange(state_->head, {});
  if (state_->format == Format::Protobuf) {
    state_->nextProtobuf(out, about);
  } else {
    state_->nextJson(out, about);
  }
  if (state_->done < state_->count) return true;
  out += std::exchange(state_->tail, {});
  return false;
}

std::size_t protobufSize(const AnyObject& object) {
  checkProtobuf(object.type());
  detail::ProtobufEncoder encoder(detail::ProtobufEncoder::Purpose::Measure);
  encoder.message(object.type(), object.data());
  return encoder.size();
}

std::string encodeList(Format format, const GroupVersionKind& list, const metav1::ListMeta& meta,
                       std::size_t count, const ListItems& item, bool named) {
  std::string body;
  ListEncoder(format, list, meta, count, item, named).next(body, std::string().max_size());
  return body;
}

std::string encodeWatchEvent(EventType type, const AnyObject& object, Format format) {
  std::string encoded = encodeObject(object, format);
  if (format != Format::Protobuf) {
    std::string frame = "{\"type\":\"";
    frame.append(toString(type)).append("\",\"object\":").append(encoded).append("}\n");
    return frame;
  }
  detail::ProtobufEncoder encoder;
  encoder.text(1, encoded);
  encoder.wrap(2, 0);
  encoder.text(1, toString(type));
  const auto size = static_cast<std::uint32_t>(encoder.size());
  std::string frame;
  frame.reserve(size + 4);
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>((size >> shift) & 0xff);
  encoder.appendTo(frame);
  return frame;
}

}  // namespace kube
