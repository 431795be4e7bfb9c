#include "kube/codec/protobuf_encode.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <protozero/varint.hpp>

#include "kube/base/error.h"
#include "kube/codec/container.h"
#include "kube/meta/optional_field.h"

namespace kube::detail {

namespace {
constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kBytes = 2;
}  // namespace

void ProtobufEncoder::newBuffer(std::size_t bytes) {
  constexpr std::size_t kFirst = 1 << 10;
  constexpr std::size_t kMost = 256 << 10;
  const std::size_t next = std::max({kFirst, std::min(capacity_ * 4, kMost), bytes});
  std::unique_ptr<char[]> buffer(new char[next]);
  if (buffer_ != nullptr) {
    full_.emplace_back(buffer_ + start_, capacity_ - start_);
    before_ += full_.back().size();
  }
  buffer_ = buffer.get();
  buffers_.push_back(std::move(buffer));
  capacity_ = start_ = next;
}

void ProtobufEncoder::appendTo(std::string& out) const {
  if (buffer_ == nullptr) return;
  out.reserve(out.size() + size());
  out.append(buffer_ + start_, capacity_ - start_);
  for (auto at = full_.rbegin(); at != full_.rend(); ++at) out.append(*at);
}

void ProtobufEncoder::bytes(std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
}

void ProtobufEncoder::varint(std::uint64_t value) {
  if (value < 0x80) {
    *room(1) = static_cast<char>(value);
    return;
  }
  char digits[protozero::max_varint_length];
  const auto length = static_cast<std::size_t>(protozero::write_varint(digits, value));
  bytes({digits, length});
}

void ProtobufEncoder::key(std::uint32_t tag, std::uint32_t wireType) {
  varint(tag << 3 | wireType);
}

void ProtobufEncoder::text(std::uint32_t tag, std::string_view content) {
  bytes(content);
  varint(content.size());
  key(tag, kBytes);
}

void ProtobufEncoder::wrap(std::uint32_t tag, std::size_t before) {
  varint(size() - before);
  key(tag, kBytes);
}

void ProtobufEncoder::message(const TypeInfo& type, const void* object) {
  fields(type, type.wire, static_cast<const std::byte*>(object));
}

void ProtobufEncoder::fields(const TypeInfo& type, std::span<const WireField> wire,
                             const std::byte* object) {
  for (auto at = wire.rbegin(); at != wire.rend(); ++at) {
    if (at->group.empty()) {
      const FieldInfo& info = type.fields[at->field];
      field(info, object + info.offset);
    } else {
      const std::size_t before = size();
      fields(type, at->group, object);
      wrap(at->tag, before);
    }
  }
}

void ProtobufEncoder::field(const FieldInfo& info, const std::byte* at) {
  switch (info.shape) {
    case Shape::Plain: {
      // Upstream leaves out nil pointers and nil byte slices, and writes every other zero.
      const bool skippable =
          info.pointer() || info.kind == FieldKind::Bytes || info.kind == FieldKind::Strings;
      if (skippable && *reinterpret_cast<const std::uint64_t*>(at) == 0) return;
      if (info.kind == FieldKind::Value && reinterpret_cast<const Value*>(at)->isNull()) return;
      single(info, info.tag, at);
      return;
    }
    case Shape::Optional: {
      const void* value = nullptr;
      if (info.kind == FieldKind::Message) {
        const Block* block = *reinterpret_cast<Block* const*>(at);
        value = block != nullptr ? block->payload() : nullptr;
      } else {
        value = optionalValue(info.kind, at);
      }
      if (value != nullptr) single(info, info.tag, static_cast<const std::byte*>(value));
      return;
    }
    case Shape::List: {
      const Block* block = *reinterpret_cast<Block* const*>(at);
      for (std::size_t i = countOf(block); i-- > 0;) {
        single(info, info.tag, elementOf(block, *info.ops, i));
      }
      return;
    }
    case Shape::Map: {
      const Block* block = *reinterpret_cast<Block* const*>(at);
      for (std::size_t i = countOf(block); i-- > 0;) {
        std::byte* entry = elementOf(block, *info.ops, i);
        const std::size_t before = size();
        single(info, 2, valueOf(entry));
        text(1, keyOf(entry));
        wrap(info.tag, before);
      }
      return;
    }
  }
}

void ProtobufEncoder::single(const FieldInfo& info, std::uint32_t tag, const std::byte* at) {
  const std::size_t before = size();
  switch (info.kind) {
    case FieldKind::Bool:
      varint(*reinterpret_cast<const bool*>(at) ? 1 : 0);
      return key(tag, kVarint);
    case FieldKind::Int32:
      varint(static_cast<std::uint64_t>(
          static_cast<std::int64_t>(*reinterpret_cast<const std::int32_t*>(at))));
      return key(tag, kVarint);
    case FieldKind::Int64:
      varint(static_cast<std::uint64_t>(*reinterpret_cast<const std::int64_t*>(at)));
      return key(tag, kVarint);
    case FieldKind::Double: {
      const auto bits = std::bit_cast<std::uint64_t>(*reinterpret_cast<const double*>(at));
      char* to = room(8);
      for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(bits >> (8 * i));
      return key(tag, kFixed64);
    }
    case FieldKind::String:
    case FieldKind::Bytes:
      return text(tag, reinterpret_cast<const String*>(at)->view());
    case FieldKind::Time:
      if (const auto& time = *reinterpret_cast<const Time*>(at); time) {
        varint(0);
        key(2, kVarint);
        varint(static_cast<std::uint64_t>(time.unixSeconds()));
        key(1, kVarint);
      }
      break;
    case FieldKind::MicroTime:
      if (const auto& time = *reinterpret_cast<const MicroTime*>(at); time) {
        varint(static_cast<std::uint64_t>(time.nanos()));
        key(2, kVarint);
        varint(static_cast<std::uint64_t>(time.unixSeconds()));
        key(1, kVarint);
      }
      break;
    case FieldKind::Duration:
      varint(static_cast<std::uint64_t>(reinterpret_cast<const Duration*>(at)->nanos()));
      key(1, kVarint);
      break;
    case FieldKind::Quantity:
      text(1, reinterpret_cast<const Quantity*>(at)->text());
      break;
    case FieldKind::IntOrString: {
      const auto& either = *reinterpret_cast<const IntOrString*>(at);
      text(3, either.stringValue());
      varint(static_cast<std::uint64_t>(either.isString() ? 0 : either.intValue()));
      key(2, kVarint);
      varint(either.isString() ? 1 : 0);
      key(1, kVarint);
      break;
    }
    case FieldKind::Raw:
      if (const auto& raw = *reinterpret_cast<const RawExtension*>(at); raw) text(1, raw.raw);
      break;
    case FieldKind::Strings: {
      const auto& list = *reinterpret_cast<const Strings*>(at);
      for (std::size_t i = list.size(); i-- > 0;) text(1, list[i]);
      break;
    }
    case FieldKind::Message:
      fields(*info.type, info.type->wire, at);
      break;
    case FieldKind::Value:
      throw Error("protobuf: field " + std::string(info.name) + " has no protobuf form");
  }
  wrap(tag, before);
}

}  // namespace kube::detail
