#include "kube/codec/protobuf.h"

#include <memory>

#include "kube/base/error.h"
#include "kube/codec/internal/list_decode.h"
#include "kube/codec/internal/protobuf_decode.h"
#include "kube/codec/internal/protobuf_encode.h"
#include "kube/codec/internal/wire_reader.h"

namespace kube {

namespace {

constexpr std::uint32_t field(std::uint32_t tag) { return detail::wireKey(tag, detail::kBytes); }

}  // namespace

bool isProtobuf(std::string_view bytes) noexcept { return bytes.starts_with(kProtobufMagic); }

bool hasProtobuf(const TypeInfo& type) noexcept {
  return type.form != JsonForm::Dynamic && (!type.wire.empty() || type.fields.empty());
}

ProtobufEnvelope openProtobuf(std::string_view bytes) {
  const detail::WireOrigin origin{bytes.data()};
  detail::WireReader in(bytes, origin);
  if (!isProtobuf(bytes)) in.fail("not Kubernetes protobuf: the body does not start with k8s\\0");
  in.seek(bytes.data() + kProtobufMagic.size());
  ProtobufEnvelope envelope;
  while (!in.done()) {
    const std::uint32_t key = in.key();
    switch (key) {
      case field(1): {
        detail::WireReader typeMeta(in.bytes(), origin);
        while (!typeMeta.done()) {
          const std::uint32_t inner = typeMeta.key();
          if (inner == field(1)) {
            envelope.apiVersion = typeMeta.bytes();
          } else if (inner == field(2)) {
            envelope.kind = typeMeta.bytes();
          } else {
            typeMeta.skip(inner);
          }
        }
        break;
      }
      case field(2):
        envelope.raw = in.bytes();
        break;
      case field(3):
        envelope.contentEncoding = in.bytes();
        break;
      case field(4):
        envelope.contentType = in.bytes();
        break;
      default:
        in.skip(key);
    }
  }
  return envelope;
}

namespace detail {

void checkEnvelope(const TypeInfo& type, const ProtobufEnvelope& envelope, bool checkKind) {
  const auto fail = [](std::string reason) {
    throw DecodeError({.format = "protobuf", .offset = kProtobufMagic.size()}, std::move(reason));
  };
  if (envelope.raw.data() == nullptr) fail("the envelope holds no object");
  if (!envelope.contentEncoding.empty()) {
    fail("content encoding \"" + std::string(envelope.contentEncoding) + "\" is not supported");
  }
  if (type.resource == nullptr || envelope.kind.empty() || !checkKind) return;
  const ResourceInfo& resource = *type.resource;
  if (envelope.kind != resource.kind ||
      (!resource.unversioned && envelope.apiVersion != resource.apiVersion())) {
    fail("expected " + resource.apiVersion() + " " + std::string(resource.kind) + ", found " +
         std::string(envelope.apiVersion) + " " + std::string(envelope.kind));
  }
}

}  // namespace detail

namespace {

void needsProtobuf(const TypeInfo& type) {
  if (!hasProtobuf(type)) {
    throw Error("protobuf: " + std::string(type.name) + " has no protobuf form");
  }
}

}  // namespace

void decodeProtobuf(const TypeInfo& type, void* object, std::string_view bytes,
                    const DecodeOptions& options) {
  needsProtobuf(type);
  if (detail::isListType(type) && isProtobuf(bytes)) {
    detail::decodeList(type, object, bytes, options);
    return;
  }
  const ProtobufEnvelope envelope = openProtobuf(bytes);
  detail::checkEnvelope(type, envelope, options.checkKind);
  detail::ProtobufDecoder(bytes, options.pool).message(type, object, envelope.raw);
  if (options.pool != nullptr) options.pool->settle();
}

void encodeProtobuf(const TypeInfo& type, const void* object, std::string& out) {
  needsProtobuf(type);
  // The items of a list share parts. Each shared part is encoded once.
  const auto known = detail::isListType(type) ? std::make_unique<detail::EncodedParts>() : nullptr;
  detail::ProtobufEncoder encoder(known.get());
  encoder.text(4, "");
  encoder.text(3, "");
  const std::size_t before = encoder.size();
  encoder.message(type, object);
  encoder.wrap(2, before);
  const std::size_t meta = encoder.size();
  encoder.text(2, type.resource != nullptr ? type.resource->kind : std::string_view());
  encoder.text(1, type.resource != nullptr ? type.resource->apiVersion() : std::string());
  encoder.wrap(1, meta);
  encoder.bytes(kProtobufMagic);
  encoder.appendTo(out);
}

}  // namespace kube
