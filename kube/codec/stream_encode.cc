#include "kube/codec/stream_encode.h"

#include "kube/base/error.h"
#include "kube/codec/deserializer.h"
#include "kube/codec/json.h"
#include "kube/codec/json_encode.h"
#include "kube/codec/protobuf.h"
#include "kube/codec/protobuf_encode.h"

namespace kube {

namespace {

void checkProtobuf(const TypeInfo& type) {
  if (type.wire.empty() && !(type.fields.empty() && type.form == JsonForm::Object)) {
    throw Error("protobuf: " + std::string(type.name) + " has no protobuf form");
  }
}

std::string jsonList(const GroupVersionKind& list, const metav1::ListMeta& meta, std::size_t count,
                     const ListItems& item, bool named) {
  std::string out = "{\"kind\":";
  detail::JsonEncoder encoder(out, 0);
  encoder.string(list.kind);
  out += ",\"apiVersion\":";
  encoder.string(list.groupVersion().str());
  out += ",\"metadata\":";
  encoder.object(TypeOf<metav1::ListMeta>::info, &meta);
  out += ",\"items\":[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out += ',';
    const AnyObject& object = item(i);
    if (named) {
      out += encodeObject(object, Format::Json);
      continue;
    }
    TypeInfo nameless = object.type();
    nameless.resource = nullptr;
    encodeJson(nameless, object.data(), out);
  }
  return out += "]}";
}

// The list in its envelope, all in one go from the last byte to the first.
std::string protobufList(const GroupVersionKind& list, const metav1::ListMeta& meta,
                         std::size_t count, const ListItems& item) {
  detail::ProtobufEncoder encoder;
  encoder.text(4, "");
  encoder.text(3, "");
  const std::size_t tail = encoder.size();
  for (std::size_t i = count; i-- > 0;) {
    const AnyObject& object = item(i);
    checkProtobuf(object.type());
    const std::size_t before = encoder.size();
    encoder.message(object.type(), object.data());
    encoder.wrap(2, before);
  }
  const std::size_t items = encoder.size();
  encoder.message(TypeOf<metav1::ListMeta>::info, &meta);
  encoder.wrap(1, items);
  encoder.wrap(2, tail);
  const std::size_t raw = encoder.size();
  encoder.text(2, list.kind);
  encoder.text(1, list.groupVersion().str());
  encoder.wrap(1, raw);
  encoder.bytes(kProtobufMagic);
  std::string body;
  encoder.appendTo(body);
  return body;
}

}  // namespace

std::string encodeList(Format format, const GroupVersionKind& list, const metav1::ListMeta& meta,
                       std::size_t count, const ListItems& item, bool named) {
  return format == Format::Protobuf ? protobufList(list, meta, count, item)
                                    : jsonList(list, meta, count, item, named);
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
