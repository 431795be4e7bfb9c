#include "kube/codec/stream_encode.h"

#include <utility>

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

}  // namespace

ListEncoder::ListEncoder(Format format, GroupVersionKind list, const metav1::ListMeta& meta,
                         bool named)
    : format_(format), kind_(std::move(list)), named_(named) {
  const TypeInfo& type = TypeOf<metav1::ListMeta>::info;
  if (format_ == Format::Protobuf) {
    detail::ProtobufEncoder encoder;
    const std::size_t before = encoder.size();
    encoder.message(type, &meta);
    encoder.wrap(1, before);
    encoder.appendTo(out_);
    return;
  }
  detail::JsonEncoder encoder(out_, 0);
  out_ += "{\"kind\":";
  encoder.string(kind_.kind);
  out_ += ",\"apiVersion\":";
  encoder.string(kind_.groupVersion().str());
  out_ += ",\"metadata\":";
  encoder.object(type, &meta);
  out_ += ",\"items\":[";
}

void ListEncoder::add(const AnyObject& item) {
  if (format_ == Format::Protobuf) {
    checkProtobuf(item.type());
    detail::ProtobufEncoder encoder;
    encoder.message(item.type(), item.data());
    encoder.wrap(2, 0);
    encoder.appendTo(out_);
    return;
  }
  if (!std::exchange(empty_, false)) out_ += ',';
  if (named_) {
    out_ += encodeObject(item, Format::Json);
    return;
  }
  TypeInfo nameless = item.type();
  nameless.resource = nullptr;
  encodeJson(nameless, item.data(), out_);
}

std::string ListEncoder::finish() {
  if (format_ != Format::Protobuf) return std::move(out_ += "]}");
  detail::ProtobufEncoder encoder;
  encoder.text(4, "");
  encoder.text(3, "");
  std::string tail;
  encoder.appendTo(tail);
  // The head, written back to front before the list itself.
  detail::ProtobufEncoder head;
  head.varint(out_.size());
  head.key(2, 2);
  const std::size_t meta = head.size();
  head.text(2, kind_.kind);
  head.text(1, kind_.groupVersion().str());
  head.wrap(1, meta);
  head.bytes(kProtobufMagic);
  std::string body;
  body.reserve(head.size() + out_.size() + tail.size());
  head.appendTo(body);
  body += out_;
  body += tail;
  out_ = {};
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
